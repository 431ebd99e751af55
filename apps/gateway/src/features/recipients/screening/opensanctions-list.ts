import { readCsvRows } from './csv-rows.ts';
import { splitText } from './list-text.ts';
import { type ListLimits, namesOf, type SanctionsEntry, SanctionsListError } from './sanctions-list.ts';

/** Schemata of the FollowTheMoney model that can be paid; addresses, sanctions and ships are other objects. */
const PERSON = 'Person';
const ORGANISATIONS = new Set(['Company', 'LegalEntity', 'Organization', 'PublicBody']);

const kindOf = (schema: string): SanctionsEntry['kind'] | undefined => {
  if (schema === PERSON) return 'individual';
  return ORGANISATIONS.has(schema) ? 'organisation' : undefined;
};

/** entities.ftm.json: one object a line. */
export async function* readFollowTheMoney(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<SanctionsEntry> {
  for await (const line of splitText(text, '\n', limits)) {
    if (line.trim() === '') continue;
    const entity = parseLine(line);
    const kind = kindOf(entity.schema);
    const topics = textsOf(entity.properties.topics);
    const sanctioned = topics.some((topic) => topic.startsWith('sanction'));
    if (kind === undefined || !(sanctioned || (topics.length === 0 && entity.target))) continue;
    const { name, alias, previousName } = entity.properties;
    const names = namesOf([entity.caption, ...[name, alias, previousName].flatMap(textsOf)], limits);
    if (names.length === 0) throw new SanctionsListError('an entity has no name');
    yield {
      id: entity.id,
      kind,
      names,
      programs: textsOf(entity.properties.programId ?? entity.properties.program),
    };
  }
}

type Entity = {
  id: string;
  caption: string;
  schema: string;
  target: boolean;
  properties: Readonly<Record<string, unknown>>;
};

function parseLine(line: string): Entity {
  const value = parseJson(line);
  const { id, caption, schema, target, properties } = isRecord(value) ? value : {};
  if (typeof id !== 'string' || typeof schema !== 'string' || !isRecord(properties)) {
    throw new SanctionsListError('a line is not an entity');
  }
  return {
    id,
    schema,
    properties,
    caption: typeof caption === 'string' ? caption : '',
    target: target === true,
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new SanctionsListError('a line is not JSON');
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** targets.simple.csv: a header, and several values of a column separated by semicolons. */
export async function* readSimpleTargets(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<SanctionsEntry> {
  let header: Map<string, number> | undefined;
  for await (const row of readCsvRows(text, limits)) {
    if (header === undefined) {
      header = new Map(row.map((column, place) => [column.trim(), place]));
      for (const column of ['id', 'schema', 'name', 'aliases']) {
        if (!header.has(column)) throw new SanctionsListError(`the list has no column ${column}`);
      }
      continue;
    }
    const columns = header;
    if (row.length !== columns.size) throw new SanctionsListError('a row does not fit the header');
    const value = (column: string): string => row[columns.get(column) ?? -1]?.trim() ?? '';
    const several = (column: string): string[] =>
      value(column)
        .split(';')
        .filter((part) => part.trim() !== '');
    const kind = kindOf(value('schema'));
    if (kind === undefined) continue;
    const names = namesOf([value('name'), ...several('aliases')], limits);
    if (value('id') === '' || names.length === 0) throw new SanctionsListError('a row has no id or no name');
    yield { id: value('id'), kind, names, programs: several('sanctions') };
  }
}
