import {
  type ListLimits,
  namesOf,
  readCsvRows,
  type SanctionsEntry,
  SanctionsListError,
  splitText,
} from './sanctions-list.ts';

/** What the Office of Foreign Assets Control writes for nothing. */
const NOTHING = '-0-';
const SDN_COLUMNS = 12;
const ALTERNATE_COLUMNS = 5;

/** Ships and aircraft are not paid. */
const NOT_PAYEES = new Set(['vessel', 'aircraft']);

const present = (value: string | undefined): string => {
  const text = value?.trim() ?? '';
  return text === NOTHING ? '' : text;
};

/** `SURNAME, Given names` as people say it. */
function inSpokenOrder(name: string): string {
  const comma = name.indexOf(',');
  return comma < 0 ? name : `${name.slice(comma + 1).trim()} ${name.slice(0, comma).trim()}`;
}

/** sdn.csv: no header; number, name, type, programs and eight more columns. */
export async function* readOfacCsv(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<SanctionsEntry> {
  for await (const row of readCsvRows(text, limits)) {
    if (row.length < SDN_COLUMNS) throw new SanctionsListError('a row of the SDN file has too few columns');
    const [number, name, type, programs] = row.map(present);
    if (number === undefined || !/^\d+$/.test(number) || !name) {
      throw new SanctionsListError('a row of the SDN file has no number or no name');
    }
    if (NOT_PAYEES.has(type?.toLowerCase() ?? '')) continue;
    const individual = type?.toLowerCase() === 'individual';
    yield {
      id: `ofac-${number}`,
      kind: individual ? 'individual' : 'organisation',
      names: namesOf([individual ? inSpokenOrder(name) : name], limits),
      programs: (programs ?? '').split(/\]\s*\[|[[\]]/).filter((program) => program.trim() !== ''),
    };
  }
}

/** alt.csv: aliases by the number of their entry. Weak ones are told apart only in the XML edition. */
export async function readOfacAlternates(
  text: AsyncIterable<string>,
  limits: ListLimits,
): Promise<Map<string, string[]>> {
  const aliases = new Map<string, string[]>();
  for await (const row of readCsvRows(text, limits)) {
    if (row.length < ALTERNATE_COLUMNS)
      throw new SanctionsListError('a row of the alternate names is too short');
    const [number, , , name] = row.map(present);
    if (!number || !name) continue;
    const id = `ofac-${number}`;
    const known = aliases.get(id) ?? [];
    aliases.set(id, known);
    if (known.length < limits.maxNamesPerEntry) known.push(name);
  }
  return aliases;
}

export function withAlternates(
  entry: SanctionsEntry,
  aliases: ReadonlyMap<string, readonly string[]>,
  limits: ListLimits,
): SanctionsEntry {
  const known = aliases.get(entry.id) ?? [];
  const spoken = entry.kind === 'individual' ? known.map(inSpokenOrder) : known;
  return { ...entry, names: namesOf([...entry.names, ...spoken], limits) };
}

/**
 * sdn.xml: one `sdnEntry` at a time, never the whole tree. Document types are refused, so nothing can be expanded or
 * fetched.
 */
export async function* readOfacXml(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<SanctionsEntry> {
  let complete = false;
  for await (const piece of splitText(text, '</sdnEntry>', limits)) {
    if (piece.includes('<!DOCTYPE') || piece.includes('<!ENTITY')) {
      throw new SanctionsListError('the list declares a document type');
    }
    const start = piece.indexOf('<sdnEntry>');
    if (start < 0) {
      complete ||= piece.includes('</sdnList>');
      continue;
    }
    const entry = readXmlEntry(piece.slice(start), limits);
    if (entry !== undefined) yield entry;
  }
  if (!complete) throw new SanctionsListError('the list ends before its last element');
}

function readXmlEntry(xml: string, limits: ListLimits): SanctionsEntry | undefined {
  // Aliases repeat the element names of the entry itself, so each is looked for outside the other.
  const own = xml.replace(/<akaList>[\s\S]*?<\/akaList>/, '');
  const [number] = elements(own, 'uid');
  const [type = ''] = elements(own, 'sdnType');
  const name = spokenName(own);
  if (number === undefined || name === '') throw new SanctionsListError('an entry has no number or no name');
  if (NOT_PAYEES.has(type.toLowerCase())) return undefined;
  const aliases = [...xml.matchAll(/<aka>([\s\S]*?)<\/aka>/g)]
    .map(([, aka = '']) => aka)
    // A weak alias is a common word or a nickname: the list itself does not ask to screen for it.
    .filter((aka) => elements(aka, 'category')[0] !== 'weak')
    .map(spokenName);
  return {
    id: `ofac-${number}`,
    kind: type.toLowerCase() === 'individual' ? 'individual' : 'organisation',
    names: namesOf([name, ...aliases], limits),
    programs: elements(own, 'program'),
  };
}

const spokenName = (xml: string): string =>
  `${elements(xml, 'firstName')[0] ?? ''} ${elements(xml, 'lastName')[0] ?? ''}`.trim();

function elements(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, text = '']) =>
    unescapeXml(text.trim()),
  );
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name)] ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

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
