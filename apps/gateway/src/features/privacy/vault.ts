import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createSealer, SealedValueError, type Sealer } from '../../lib/crypto.ts';

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
        throw new SealedValueError('altered, or sealed for another place');
      }
    },
  };
}

// Bytes and texts never open as one another, even in the same place.
const bytesContext = (context: string) => Buffer.from(`bytes:${context}`, 'utf8');
