import { readFile, writeFile } from 'node:fs/promises';

/** The file that the description takes its response examples from. */
const FILE = new URL('../../apps/gateway/src/http/openapi/generated/answers.json', import.meta.url);
/** A longer list is shown by its first item. */
const LIST_CHARACTERS = 900;
const FILE_LINES = 2;

export type Answers = Readonly<Record<string, unknown>>;

export async function readAnswers(): Promise<Answers> {
  return JSON.parse(await readFile(FILE, 'utf8').catch(() => '{}')) as Answers;
}

export async function writeAnswers(answers: Answers): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(FILE, `${JSON.stringify(sorted, null, 1)}\n`);
}

const API = 'http://127.0.0.1:8080';
const ONE_TIME = '2026-11-15T10:00:00.000Z';

/** An answer as an example: shortened, and without what is another in every run. */
export function exampleOf(answer: unknown, baseUrl: string): unknown {
  const ids = numbered((count) => `0199aa9f-${String(count).padStart(4, '0')}-7c41-9d0e-6b1f5a3c2d10`);
  const addresses = numbered((count) => `0x${String(count).padStart(2, '0').repeat(20)}`);
  const withoutRun = (text: string): string =>
    text
      .replaceAll(baseUrl, API)
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, ids)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, ONE_TIME)
      .replaceAll(/\b0x[0-9a-fA-F]{65,}/g, `0x${'3f'.repeat(68)}`)
      .replaceAll(/\b0x[0-9a-fA-F]{64}\b/g, `0x${'5c'.repeat(32)}`)
      .replaceAll(/\b0x[0-9a-fA-F]{40}\b/g, addresses)
      .replaceAll(/http:\/\/127\.0\.0\.1:(?!8080)\d+/g, 'http://127.0.0.1:8545')
      .replaceAll(/(cw_[a-z]+_|whsec_|hosted\/)[A-Za-z0-9_-]{12,}/g, '$1exampleexampleexampleexample')
      .replaceAll(/(cw_[a-z]+_…).{4}/g, '$1mple')
      .replaceAll(/^17\d{8}$/g, '1794650400');
  const shortened = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return withoutRun(beginningOf(value));
    if (name === 'duration_ms') return 12;
    if (Array.isArray(value)) {
      const items = value.map((item) => shortened(item));
      return JSON.stringify(items).length > LIST_CHARACTERS ? items.slice(0, 1) : items;
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortened(part, key)]));
  };
  return shortened(answer);
}

/** A file is shown by its head and its first line. */
function beginningOf(text: string): string {
  const lines = text.split(/(?<=\n)/);
  return lines.length > FILE_LINES ? lines.slice(0, FILE_LINES).join('') : text;
}

/** The same name for the same text, counted in the order in which they come. */
function numbered(make: (count: number) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const name = known.get(text) ?? make(known.size + 1);
    known.set(text, name);
    return name;
  };
}

/** Whether two answers have the same fields; what is null or empty in one of them says nothing. */
export function haveSameFields(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === 0 || other.length === 0 || haveSameFields(one[0], other[0]);
  }
  if (one === null || other === null) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return typeof one === typeof other;
  const [fields, otherFields] = [one, other] as Record<string, unknown>[];
  const names = Object.keys({ ...fields, ...otherFields });
  return names.every(
    (name) =>
      Object.hasOwn(fields ?? {}, name) &&
      Object.hasOwn(otherFields ?? {}, name) &&
      haveSameFields(fields?.[name], otherFields?.[name]),
  );
}
