import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  byTag,
  KEY_CLASSES,
  operationsOf,
} from './api-operations.ts';
import type { SandboxKeys } from './sandbox-keys.ts';

export interface CollectionFile {
  readonly path: string;
  readonly text: string;
}

const FOLDER = 'causeway';

/** The description as a folder that Bruno opens: a folder a chapter, a file an operation. */
export function brunoCollection(
  document: ApiDocument,
  baseUrl: string,
  keys: SandboxKeys | undefined,
): CollectionFile[] {
  const { title, version, description = '' } = document.info;
  const chapters = byTag(document, operationsOf(document));
  return [
    {
      path: `${FOLDER}/bruno.json`,
      text: `${JSON.stringify({ version: '1', name: `${title} ${version}`, type: 'collection', ignore: [] }, null, 2)}\n`,
    },
    { path: `${FOLDER}/collection.bru`, text: block('docs', description) },
    { path: `${FOLDER}/environments/Causeway.bru`, text: environment(baseUrl, keys) },
    ...chapters.flatMap(({ name, description: about, operations }, chapter) => [
      {
        path: `${FOLDER}/${name}/folder.bru`,
        text: [block('meta', `name: ${name}\nseq: ${chapter + 1}`), block('docs', about)].join('\n'),
      },
      ...operations.map((operation, index) => ({
        path: `${FOLDER}/${name}/${operation.id}.bru`,
        text: requestFile(operation, index + 1),
      })),
    ]),
  ];
}

/** Keys that are not known here are secrets of the environment: Bruno asks for them and keeps them out of the folder. */
function environment(baseUrl: string, keys: SandboxKeys | undefined): string {
  const names = KEY_CLASSES.map((name) => `${name}_key`);
  if (keys === undefined) {
    return `${block('vars', `base_url: ${baseUrl}`)}vars:secret [\n${names.map((name) => `  ${name}`).join(',\n')}\n]\n`;
  }
  const values = KEY_CLASSES.map((name) => `${name}_key: ${keys[name] ?? ''}`);
  return block('vars', [`base_url: ${baseUrl}`, ...values].join('\n'));
}

function requestFile(operation: ApiOperation, position: number): string {
  const { method, summary, description, keyClass, pathParameters, query, headers, body } = operation;
  const asked = query.filter(({ required }) => required);
  const search = asked.map(({ name, example }) => `${name}=${encodeURIComponent(example)}`).join('&');
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, ':$1');
  const isJson = body?.mediaType === 'application/json';
  const parts = [
    block('meta', `name: ${oneLine(summary)}\ntype: http\nseq: ${position}`),
    block(
      method.toLowerCase(),
      [
        `url: {{base_url}}${path}${search === '' ? '' : `?${search}`}`,
        `body: ${isJson ? 'json' : 'none'}`,
        `auth: ${keyClass === undefined ? 'none' : 'apikey'}`,
      ].join('\n'),
    ),
    entries('params:query', query),
    entries('params:path', pathParameters),
    entries(
      'headers',
      headers.map((header) =>
        header.name === 'Idempotency-Key' ? { ...header, example: '{{$guid}}' } : header,
      ),
    ),
    keyClass === undefined
      ? ''
      : block('auth:apikey', `key: X-API-Key\nvalue: {{${keyClass}_key}}\nplacement: header`),
    isJson ? block('body:json', JSON.stringify(body.example, null, 2)) : '',
    description === '' ? '' : block('docs', description),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** What may be left out is there and switched off. */
function entries(name: string, parameters: readonly ApiParameter[]): string {
  if (parameters.length === 0) return '';
  return block(
    name,
    parameters
      .map((field) => `${field.required ? '' : '~'}${field.name}: ${oneLine(field.example)}`)
      .join('\n'),
  );
}

function block(name: string, text: string): string {
  const lines = text.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  return `${name} {\n${lines.join('\n')}\n}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
