import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  byTag,
  KEY_CLASSES,
  operationsOf,
} from './api-operations.ts';
import type { SandboxKeys } from './sandbox-keys.ts';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** The description as a collection for Postman (format 2.1): a folder a chapter, a request an operation. */
export function postmanCollection(
  document: ApiDocument,
  baseUrl: string,
  keys: SandboxKeys | undefined,
): object {
  return {
    info: {
      name: `${document.info.title} ${document.info.version}`,
      description: document.info.description ?? '',
      schema: SCHEMA,
    },
    item: byTag(document, operationsOf(document)).map(({ name, description, operations }) => ({
      name,
      description,
      item: operations.map((operation) => ({
        name: operation.summary,
        request: requestOf(operation),
        response: [],
      })),
    })),
    variable: [
      { key: 'base_url', value: baseUrl, type: 'string' },
      ...KEY_CLASSES.map((name) => ({ key: `${name}_key`, value: keys?.[name] ?? '', type: 'string' })),
    ],
  };
}

function requestOf(operation: ApiOperation): object {
  const { method, description, keyClass, body } = operation;
  return {
    method,
    description,
    auth: authOf(keyClass),
    header: [
      ...(body === undefined ? [] : [{ key: 'Content-Type', value: body.mediaType }]),
      ...operation.headers.map((header) => ({
        key: header.name,
        value: header.name === 'Idempotency-Key' ? '{{$guid}}' : header.example,
        description: header.description,
        disabled: !header.required,
      })),
    ],
    url: urlOf(operation),
    ...(body === undefined ? {} : { body: bodyOf(body) }),
  };
}

function authOf(keyClass: ApiOperation['keyClass']): object {
  if (keyClass === undefined) return { type: 'noauth' };
  const settings = { key: 'X-API-Key', value: `{{${keyClass}_key}}`, in: 'header' };
  return {
    type: 'apikey',
    apikey: Object.entries(settings).map(([key, value]) => ({ key, value, type: 'string' })),
  };
}

function urlOf({ path, pathParameters, query }: ApiOperation): object {
  const parts = path
    .slice(1)
    .split('/')
    .map((part) => part.replace(/^\{(.+)\}$/, ':$1'));
  const asked = query.filter(({ required }) => required);
  const search = asked.map(({ name, example }) => `${name}=${encodeURIComponent(example)}`).join('&');
  return {
    raw: `{{base_url}}/${parts.join('/')}${search === '' ? '' : `?${search}`}`,
    host: ['{{base_url}}'],
    path: parts,
    ...(query.length === 0
      ? {}
      : { query: query.map((field) => ({ ...entryOf(field), disabled: !field.required })) }),
    ...(pathParameters.length === 0 ? {} : { variable: pathParameters.map(entryOf) }),
  };
}

function entryOf({ name, example, description }: ApiParameter): object {
  return { key: name, value: example, description };
}

function bodyOf({ mediaType, example }: NonNullable<ApiOperation['body']>): object {
  if (mediaType !== 'application/json') return { mode: 'file', file: {} };
  return {
    mode: 'raw',
    raw: JSON.stringify(example, null, 2),
    options: { raw: { language: 'json' } },
  };
}
