import { createDecipheriv } from 'node:crypto';
import pg from 'pg';

/** Every table as lines of text, bytes as hex. */
export async function dump(databaseUrl: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const tables = new Map<string, string>();
    for (const { name } of rows) {
      const content = await client.query(`SELECT t::text AS line FROM ${name} t`);
      tables.set(name, content.rows.map(({ line }) => line).join('\n'));
    }
    return tables;
  } finally {
    await client.end();
  }
}

/** Which values a text holds: as they are, in any case, as JSON escapes them, in hex or in base64. */
export function leaks(text: string, values: readonly string[]): string[] {
  const lower = text.toLowerCase();
  return values.filter((value) => {
    const bytes = Buffer.from(value);
    const inBase64 = [0, 1, 2].map((shift) => {
      const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
      // The first and last characters depend on the neighbours.
      return shifted.slice(shift === 0 ? 0 : 4, -4);
    });
    return (
      lower.includes(value.toLowerCase()) ||
      lower.includes(JSON.stringify(value).slice(1, -1).toLowerCase()) ||
      lower.includes(bytes.toString('hex')) ||
      inBase64.some((encoded) => encoded.length >= 8 && text.includes(encoded))
    );
  });
}

const SEALED = /[0-9a-f]{8}\.([A-Za-z0-9_-]{38,})/g;
const BYTES = /\\x([0-9a-f]{56,})/g;
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * What somebody reads who has the whole database and the master key. Everything that looks sealed is decrypted with
 * every key there is, wherever it stands (a wrong key gives noise, which holds no names): without its seal being checked a value opens in any place, so that nothing has
 * to be known about the tables and a new column is read like the others.
 */
export function readWithKeys(
  tables: ReadonlyMap<string, string>,
  masterKey: Buffer,
): { readonly texts: ReadonlyMap<string, string>; readonly keys: number } {
  const sealed = new Map([...tables].map(([table, text]) => [table, sealedIn(text)]));
  const keys = [masterKey];
  for (const value of [...sealed.values()].flat()) {
    const text = decrypted(masterKey, value).toString('utf8');
    if (KEY_TEXT.test(text)) keys.push(Buffer.from(text, 'base64'));
  }
  const texts = new Map(
    [...sealed].map(([table, values]) => [
      table,
      values
        .flatMap((value) => keys.map((key) => decrypted(key, value)))
        .map((bytes) => bytes.toString('utf8'))
        .join('\n'),
    ]),
  );
  return { texts, keys: keys.length };
}

function sealedIn(text: string): Buffer[] {
  const values = [...text.matchAll(SEALED)].map(([, value]) => Buffer.from(value ?? '', 'base64url'));
  const bytes = [...text.matchAll(BYTES)].map(([, value]) => Buffer.from(value ?? '', 'hex'));
  return [...values, ...bytes].filter(({ length }) => length > NONCE_BYTES + TAG_BYTES);
}

/** AES-GCM encrypts in counter mode; its first block of text has counter 2. */
function decrypted(key: Buffer, value: Buffer): Buffer {
  const counter = Buffer.concat([value.subarray(0, NONCE_BYTES), Buffer.from([0, 0, 0, 2])]);
  const decipher = createDecipheriv('aes-256-ctr', key, counter);
  return decipher.update(value.subarray(NONCE_BYTES, -TAG_BYTES));
}
