import {
  type ListLimits,
  namesOf,
  readCsvRows,
  type SanctionsEntry,
  SanctionsListError,
  splitText,
  tooLong,
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

interface XmlNode {
  readonly name: string;
  readonly children: XmlNode[];
  text: string;
}

const XML_ENTRY = 'sdnEntry';

/**
 * sdn.xml: one `sdnEntry` at a time, never the whole tree. Document types are refused, so nothing can be expanded or
 * fetched.
 */
export async function* readOfacXml(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<SanctionsEntry> {
  // Loaded with the list: a process that screens by none does not need it.
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  const found: XmlNode[] = [];
  const open: XmlNode[] = [];
  let recordStart = 0;
  const refuseLong = () => {
    if (parser.position - recordStart > limits.maxRecordCharacters) {
      throw new SanctionsListError(tooLong(limits));
    }
  };
  parser.on('doctype', () => {
    throw new SanctionsListError('the list declares a document type');
  });
  parser.on('opentag', ({ name }) => {
    if (open.length === 0 && name !== XML_ENTRY) return;
    const node: XmlNode = { name, text: '', children: [] };
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  parser.on('text', (value) => {
    const node = open.at(-1);
    if (node !== undefined) node.text += value;
  });
  parser.on('closetag', () => {
    const node = open.pop();
    if (node === undefined || open.length > 0) return;
    refuseLong();
    recordStart = parser.position;
    found.push(node);
  });
  for await (const chunk of text) {
    wellFormed(() => parser.write(chunk), 'the list is not well-formed XML');
    refuseLong();
    for (const node of found.splice(0)) {
      const entry = xmlEntry(node, limits);
      if (entry !== undefined) yield entry;
    }
  }
  wellFormed(() => parser.close(), 'the list ends before its last element');
}

/** The parser's own messages quote the document, so none of them is passed on. */
function wellFormed(read: () => unknown, problem: string): void {
  try {
    read();
  } catch (error) {
    throw error instanceof SanctionsListError ? error : new SanctionsListError(problem);
  }
}

function xmlEntry(node: XmlNode, limits: ListLimits): SanctionsEntry | undefined {
  const number = childText(node, 'uid');
  const type = childText(node, 'sdnType').toLowerCase();
  const name = spokenName(node);
  if (number === '' || name === '') throw new SanctionsListError('an entry has no number or no name');
  if (NOT_PAYEES.has(type)) return undefined;
  const aliases = grandchildren(node, 'akaList', 'aka')
    // A weak alias is a common word or a nickname: the list itself does not ask to screen for it.
    .filter((aka) => childText(aka, 'category') !== 'weak')
    .map(spokenName);
  return {
    id: `ofac-${number}`,
    kind: type === 'individual' ? 'individual' : 'organisation',
    names: namesOf([name, ...aliases], limits),
    programs: grandchildren(node, 'programList', 'program').map(({ text }) => text.trim()),
  };
}

const spokenName = (node: XmlNode): string =>
  `${childText(node, 'firstName')} ${childText(node, 'lastName')}`.trim();

const childText = (node: XmlNode, name: string): string =>
  node.children.find((child) => child.name === name)?.text.trim() ?? '';

const grandchildren = (node: XmlNode, list: string, name: string): XmlNode[] =>
  node.children
    .filter((child) => child.name === list)
    .flatMap(({ children }) => children.filter((child) => child.name === name));

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
