import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { type Database, SYSTEM } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { Clock } from '../lib/clock.ts';
import { createSealer, SealedValueError, type Sealer } from '../lib/crypto.ts';

/** Seals what belongs to one person, with a key that is that person's alone. */
export interface Vault {
  /** `context` says where the value belongs; copied elsewhere it does not open. */
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
  sealBytes(plaintext: Uint8Array, context: string): Buffer;
  openBytes(sealed: Uint8Array, context: string): Buffer;
}

/**
 * Envelope encryption: every person has a data key, wrapped by the deployment's master key. A new master key rewraps
 * the data keys and touches nothing else; a data key that is thrown away takes everything sealed with it along.
 */
export interface Vaults {
  /** `owner` names the row that keeps the wrapped key. */
  create(owner: string): { readonly wrappedKey: string; readonly vault: Vault };
  open(wrappedKey: string, owner: string): Vault;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createVaults(master: Sealer): Vaults {
  return {
    create(owner) {
      const key = randomBytes(KEY_BYTES);
      return { wrappedKey: master.seal(key.toString('base64'), keyContext(owner)), vault: vaultOf(key) };
    },
    open(wrappedKey, owner) {
      return vaultOf(Buffer.from(master.open(wrappedKey, keyContext(owner)), 'base64'));
    },
  };
}

/** The context in which a wrapped data key was sealed; rotation needs it too. */
export function keyContext(owner: string): string {
  return `data_key:${owner}`;
}

function vaultOf(key: Buffer): Vault {
  const { seal, open } = createSealer([key]);
  return {
    seal,
    open,
    sealBytes(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(bytesContext(context));
      return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    },
    openBytes(sealed, context) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealedValueError('not a sealed value');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(bytesContext(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw new SealedValueError('altered, or sealed for another context');
      }
    },
  };
}

// Bytes and texts never open as one another, even with the same context.
const bytesContext = (context: string) => Buffer.from(`bytes:${context}`, 'utf8');

/**
 * Keyed hashes that let equal values be found without being readable. The partner is part of the hash, so that two
 * partners with the same customer have nothing in common in the database.
 */
export type BlindIndex = (column: string, partnerId: string, value: string) => string;

/** 128 bits: no two values of one deployment meet by accident. */
const INDEX_LENGTH = 32;

export function createBlindIndex(key: Uint8Array): BlindIndex {
  return (column, partnerId, value) =>
    createHmac('sha256', key)
      .update(`${column}\n${partnerId}\n`)
      .update(value)
      .digest('hex')
      .slice(0, INDEX_LENGTH);
}

/** The name of the deployment's fact that holds the wrapped key of the blind indexes. */
export const INDEX_KEY_FACT = 'blind_index_key';
export const INDEX_KEY_CONTEXT = 'deployment_facts.blind_index_key';

const installIndexKey = statement<[name: string, wrapped: string, at: Date]>(
  'privacy.install_index_key',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, to_jsonb($2::text), $3)
   ON CONFLICT (name) DO NOTHING`,
);

const readIndexKey = statement<[name: string], { wrapped: string }>(
  'privacy.read_index_key',
  `SELECT value #>> '{}' AS wrapped FROM deployment_facts WHERE name = $1`,
);

/**
 * The key of the blind indexes. It is made once and kept wrapped by the master key: were it derived from the master key,
 * a rotation would make every index useless.
 */
export async function loadIndexKey(db: Database, sealer: Sealer, clock: Clock): Promise<Uint8Array> {
  const fresh = sealer.seal(randomBytes(32).toString('base64'), INDEX_KEY_CONTEXT);
  await db.query(SYSTEM, installIndexKey, [INDEX_KEY_FACT, fresh, clock.date()]);
  const [row] = await db.query(SYSTEM, readIndexKey, [INDEX_KEY_FACT]);
  if (row === undefined) throw new Error('the key of the blind indexes is missing');
  return Buffer.from(sealer.open(row.wrapped, INDEX_KEY_CONTEXT), 'base64');
}
