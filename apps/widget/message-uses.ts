import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { argumentsOf, type Catalogue, compileMessage } from './message-catalogue.ts';

/** What the sources ask of the messages, read from their syntax trees. */
export interface MessageUses {
  /** Every text that could be a key: keys are also held in tables. */
  readonly texts: ReadonlySet<string>;
  /** The beginnings of keys that are put together: `error.` of `error.${code}`. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly calls: readonly {
    readonly file: string;
    readonly key: string;
    readonly given: readonly string[] | null;
  }[];
  readonly problems: readonly string[];
}

interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

export function readSources(folder = join(import.meta.dirname, 'src')): Map<string, string> {
  const files = globSync('**/*.{ts,tsx}', { cwd: folder }).filter((file) => !/\.test\.tsx?$/.test(file));
  return new Map(files.toSorted().map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

export function messageUses(sources: ReadonlyMap<string, string>): MessageUses {
  const texts = new Set<string>();
  const prefixes = new Map<string, string>();
  const calls: { file: string; key: string; given: readonly string[] | null }[] = [];
  const problems: string[] = [];
  for (const [file, source] of sources) {
    visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown, (node) => {
      if (node.type === 'Literal' && typeof node.value === 'string') texts.add(node.value);
      if (node.type !== 'CallExpression' || !isNode(node.callee) || node.callee.type !== 'Identifier') return;
      if (node.callee.name !== 't' && node.callee.name !== 'tIfKnown') return;
      const [key, values] = node.arguments as readonly unknown[];
      const prefix = prefixOf(key);
      if (prefix !== null) prefixes.set(prefix, file);
      else if (isNode(key) && key.type === 'Literal')
        calls.push({ file, key: String(key.value), given: namesOf(values) });
      else if (node.callee.name === 'tIfKnown') {
        problems.push(`${file}: tIfKnown is to be given a template that begins with the prefix of its keys`);
      }
    });
  }
  return { texts, prefixes, calls, problems };
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, see);
  else if (isNode(value)) {
    see(value);
    for (const inner of Object.values(value)) visit(inner, see);
  }
}

/** `error.` of `error.${code}` and of 'error.' + code. */
function prefixOf(key: unknown): string | null {
  if (!isNode(key)) return null;
  if (key.type === 'TSAsExpression') return prefixOf(key.expression);
  if (key.type === 'BinaryExpression' && isNode(key.left) && key.left.type === 'Literal')
    return String(key.left.value);
  if (key.type !== 'TemplateLiteral') return null;
  const [head] = key.quasis as readonly { readonly value: { readonly cooked: string } }[];
  return head?.value.cooked ?? null;
}

/** The names of an object that is written in the call; null where it is put together elsewhere. */
function namesOf(values: unknown): readonly string[] | null {
  if (values === undefined) return [];
  if (!isNode(values) || values.type !== 'ObjectExpression') return null;
  const names: string[] = [];
  for (const property of values.properties as readonly Node[]) {
    if (property.type !== 'Property' || !isNode(property.key)) return null;
    names.push(String(property.key.name ?? property.key.value));
  }
  return names;
}

/** Keys that no source asks for, prefixes without keys, and calls that do not give a message what it needs. */
export function useProblems(english: Catalogue[string], uses: MessageUses): string[] {
  const messages = new Map(Object.values(english).flatMap((area) => Object.entries(area)));
  const keys = [...messages.keys()];
  const prefixes = [...uses.prefixes.keys()];
  const unused = keys.filter(
    (key) => !uses.texts.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
  );
  const empty = [...uses.prefixes].filter(
    ([prefix]) => !/^[\w-]+\./.test(prefix) || !keys.some((key) => key.startsWith(prefix)),
  );
  return [
    ...uses.problems,
    ...unused.map((key) => `"${key}" is used by no source`),
    ...empty.map(([prefix, file]) => `${file}: there are no keys that begin with "${prefix}"`),
    ...uses.calls.flatMap(({ file, key, given }) => {
      const text = messages.get(key);
      if (text === undefined || given === null) return [];
      return [...argumentsOf(compileMessage(text)).keys()]
        .filter((name) => !given.includes(name))
        .map((name) => `${file}: t('${key}') is not given {${name}}`);
    }),
  ];
}
