import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { createListScreening } from './list-screening.ts';
import { loadSanctionsList } from './load-sanctions-list.ts';
import { DEFAULT_LIST_LIMITS, readCsvRows } from './sanctions-list.ts';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'causeway-list-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function written(content: string | Uint8Array): string {
  files += 1;
  const path = join(folder, `list-${files}`);
  writeFileSync(path, content);
  return path;
}

async function screened(source: Parameters<typeof loadSanctionsList>[0], name: string, nativeName?: string) {
  const port = createListScreening(await loadSanctionsList(source));
  const result = await port.screen({ kind: 'individual', name, nativeName });
  return [result.status, ...result.hits.map(({ entryId }) => entryId)];
}

describe('each published format is told by its beginning and read in full', () => {
  it.each([
    ['sdn.csv', 'ofac-csv', 4],
    ['sdn.xml', 'ofac-xml', 2],
    ['entities.ftm.ndjson', 'opensanctions-ftm', 4],
    ['targets.simple.csv', 'opensanctions-csv', 2],
  ])('%s', async (name, format, entryCount) => {
    const list = await loadSanctionsList({ path: fixture(name) });
    expect(list.format).toBe(format);
    expect(list.index.entryCount).toBe(entryCount);
    expect(list.version).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('names on a list are found, others are not', () => {
  const sdn = { path: fixture('sdn.csv'), alternatesPath: fixture('alt.csv') };
  it.each([
    ['Usama Abdulrahman al Zahrawi', 'ofac-900001'],
    ['Osama Zahrawi', 'ofac-900001'],
    ['Oussama Ezzahraoui', 'ofac-900001'],
    ['Dmitri Volkov Ivanchenko', 'ofac-900002'],
    ['Дмитрий Сергеевич Волков-Иванченко', 'ofac-900002'],
    ['Northern Granite Trading Co', 'ofac-900003'],
    ['Kranit Sangsa', 'ofac-900003'],
    ['陈伟国', 'ofac-900005'],
    ['Chen Wei Guo', 'ofac-900005'],
  ])('%s goes to review', async (name, entry) => {
    expect(await screened(sdn, name)).toEqual(['review', entry]);
  });
  it.each(['Ada Lovelace', 'Grace Hopper', 'Dmitri Mendeleev', 'Chen Mei', 'Sea Example 7', 'Osama'])(
    '%s is clear',
    async (name) => {
      expect(await screened(sdn, name)).toEqual(['clear']);
    },
  );
  it('a native name is screened beside the Latin one', async () => {
    const source = { path: fixture('entities.ftm.ndjson') };
    expect(await screened(source, 'A. Person', 'أسامة الزهراوي')).toEqual(['review', 'sample-2']);
    expect(await screened(source, 'Usama Abdul Rahman al-Zahrawi')).toEqual(['review', 'sample-2']);
    expect(await screened(source, 'Kim Min-jun')).toEqual(['review', 'sample-6']);
    expect(await screened(source, 'Public Figure')).toEqual(['clear']);
  });
  it('weak aliases of the XML edition are left out, entities in text are read', async () => {
    expect(await screened({ path: fixture('sdn.xml') }, 'The Teacher')).toEqual(['clear']);
    expect(await screened({ path: fixture('sdn.xml') }, 'Smith & Sons Trading')).toEqual([
      'review',
      'ofac-900003',
    ]);
  });
  it('a name that cannot be read cannot be cleared', async () => {
    expect(await screened(sdn, '!!! 😀')).toEqual(['review']);
    expect(await screened(sdn, '')).toEqual(['review']);
  });
});

describe('a list that cannot be read in full is refused', () => {
  const row = '1,"DOE, Jon","individual","X",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n';
  const entity = '{"id":"a","schema":"Person","properties":{"name":["Jon Doe"],"topics":["sanction"]}}\n';
  const xml = '<sdnEntry><uid>1</uid><lastName>A B</lastName></sdnEntry>';
  it.each<[string, string | Uint8Array, RegExp]>([
    ['empty', '', /format/],
    ['without an entry', '{"id":"a","schema":"Address","properties":{}}\n', /no entries/],
    ['of an unknown format', 'hello', /format/],
    ['with a short row', `${row}2,"DOE"\r\n`, /too few columns/],
    ['cut inside a quoted field', `${row}2,"DOE, J`, /quoted field/],
    ['with a line that is not JSON', `${entity}{"id":`, /not JSON/],
    ['with a line that is not an entity', `${entity}[]\n`, /not an entity/],
    [
      'XML cut in the middle',
      '<sdnList><sdnEntry><uid>1</uid><lastName>A B</lastName></sdnEntry><sdnEn',
      /last element/,
    ],
    ['XML with a document type', '<!DOCTYPE x [<!ENTITY a "b">]><sdnList></sdnList>', /document type/],
    ['with a quote outside quotes', `${row}2,DOE "J",individual\r\n`, /cannot be read/],
    ['with text after a quoted field', `${row}2,"DOE"x,individual\r\n`, /cannot be read/],
    ['XML with crossed elements', `<sdnList>${xml}<sdnEntry></sdnList></sdnEntry>`, /well-formed/],
    ['XML with an entity of its own', `<sdnList>${xml}&name;</sdnList>`, /well-formed/],
    ['XML with an entry without a name', '<sdnList><sdnEntry><uid>1</uid></sdnEntry></sdnList>', /no name/],
    ['not UTF-8', new Uint8Array([...Buffer.from('{"id":"a'), 0xff, 0xfe]), /UTF-8/],
    ['a header without aliases', 'id,schema,name\na,Person,Jon Doe\n', /no column aliases/],
  ])('%s', async (_name, content, message) => {
    await expect(loadSanctionsList({ path: written(content) })).rejects.toThrow(message);
  });
  it('larger than the caps', async () => {
    const big = written(entity.repeat(50));
    const load = (limits: object) => loadSanctionsList({ path: big }, { ...DEFAULT_LIST_LIMITS, ...limits });
    await expect(load({ maxBytes: 1_000 })).rejects.toThrow(/larger than 1000 bytes/);
    await expect(load({ maxEntries: 10 })).rejects.toThrow(/more than 10 entries/);
    await expect(load({ maxRecordCharacters: 20 })).rejects.toThrow(/longer than 20 characters/);
  });
  it('an endless quoted field stops at the cap', async () => {
    const path = written(`1,"${'x'.repeat(300_000)}`);
    const limits = { ...DEFAULT_LIST_LIMITS, maxRecordCharacters: 100_000 };
    await expect(loadSanctionsList({ path, format: 'ofac-csv' }, limits)).rejects.toThrow(/longer than/);
  });
  it('an endless element stops at the cap, and so does one long entry among others', async () => {
    const limits = { ...DEFAULT_LIST_LIMITS, maxRecordCharacters: 100_000 };
    const long = 'x'.repeat(300_000);
    for (const text of [`<sdnList><sdnEntry><uid>${long}`, `<sdnList>${xml}<sdnEntry><uid>1</uid>${long}`]) {
      await expect(loadSanctionsList({ path: written(text) }, limits)).rejects.toThrow(/longer than/);
    }
    const path = written(`<sdnList>${xml.repeat(5_000)}</sdnList>`);
    expect((await loadSanctionsList({ path }, limits)).index.entryCount).toBe(5_000);
  });
  it('a missing file', async () => {
    await expect(loadSanctionsList({ path: join(folder, 'nowhere') })).rejects.toThrow(/ENOENT/);
  });
});

it('reads any rows back, however the text is cut into chunks', async () => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') });
  const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 7 }), async (expected, size) => {
      const quoted = expected.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(','));
      const text = quoted.map((row) => `${row}\r\n`).join('');
      async function* chunks() {
        for (let from = 0; from < text.length; from += size) yield text.slice(from, from + size);
      }
      const actual: string[][] = [];
      for await (const row of readCsvRows(chunks(), DEFAULT_LIST_LIMITS)) actual.push(row);
      expect(actual).toEqual(expected);
    }),
  );
});
