import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// The largest multiple of 62 in a byte: larger bytes are thrown away so that every character is equally likely.
const BASE62_BYTE_LIMIT = 248;
/** 32 base62 characters carry 190 random bits. */
const TOKEN_LENGTH = 32;
const TOKEN_LENGTH_MIN = 22;

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_LENGTH = 8;

/** What each kind of secret starts with, so that a leaked one can be recognised and revoked. */
export const TOKEN_PREFIX = {
  partnerTest: 'cw_test_',
  partnerLive: 'cw_live_',
  widget: 'cw_widget_',
  vendor: 'cw_vendor_',
  operator: 'cw_operator_',
  session: 'cw_session_',
  console: 'cw_console_',
  consoleInvitation: 'cw_invite_',
  consoleStep: 'cw_step_',
  widgetCode: 'cw_open_',
  webhookSecret: 'whsec_',
} as const;

export type TokenPrefix = (typeof TOKEN_PREFIX)[keyof typeof TOKEN_PREFIX];

/** SHA-256 in lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** HMAC-SHA256 in lower-case hex; text is taken as UTF-8. */
export function hmacSha256Hex(key: string | Uint8Array, data: string | Uint8Array): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

/** Compares two secrets in a time that tells neither where they differ nor how long the expected one is. */
export function equalInConstantTime(left: string, right: string): boolean {
  const leftDigest = createHash('sha256').update(left).digest();
  const rightDigest = createHash('sha256').update(right).digest();
  return timingSafeEqual(leftDigest, rightDigest);
}

/** A new random secret: the prefix and base62 characters, safe in headers, URLs and shells. */
export function randomToken(prefix: TokenPrefix, length: number = TOKEN_LENGTH): string {
  if (!Number.isInteger(length) || length < TOKEN_LENGTH_MIN) {
    throw new RangeError(`a token needs at least ${TOKEN_LENGTH_MIN} characters to be unguessable`);
  }
  let characters = '';
  while (characters.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < BASE62_BYTE_LIMIT && characters.length < length)
        characters += BASE62.charAt(byte % BASE62.length);
    }
  }
  return prefix + characters;
}

/** Encrypts small values for storage and opens them again. */
export interface Sealer {
  /** The id of the key that seals new values; it is the prefix of what `seal` answers. */
  readonly keyId: string;
  /**
   * `context` says where the value belongs (table, column and row id): a sealed value copied elsewhere does not open.
   */
  seal(plaintext: string, context: string): string;
  /** Throws `SealedValueError` when the value, its key or its context is not the one it was sealed with. */
  open(sealed: string, context: string): string;
}

/** A sealed value that cannot be opened. Its message never carries the value. */
export class SealedValueError extends Error {
  override readonly name = 'SealedValueError';
}

/** A short public name for a key, so that sealed values say which key opens them. */
function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update('causeway key id').update(key).digest('hex').slice(0, KEY_ID_LENGTH);
}

/**
 * AES-256-GCM with a random 96-bit nonce for each value, written as `<key id>.<base64url of nonce, ciphertext, tag>`.
 * The first key seals; the others only open what was sealed before a rotation. Random nonces are sound up to about
 * four thousand million values for one key, far beyond what personal data of one deployment needs.
 */
export function createSealer(keys: readonly [current: Uint8Array, ...previous: Uint8Array[]]): Sealer {
  for (const key of keys) {
    if (key.length !== KEY_BYTES) throw new RangeError(`a data encryption key has ${KEY_BYTES} bytes`);
  }
  const keysById = new Map(keys.map((key) => [keyIdOf(key), Buffer.from(key)]));
  const [currentKey] = keys;
  const keyId = keyIdOf(currentKey);

  // The key id is authenticated too, so that it cannot be swapped for another in the database.
  const associatedData = (id: string, context: string) => Buffer.from(`${id}.${context}`, 'utf8');

  function seal(plaintext: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', currentKey, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(keyId, context));
    const sealed = Buffer.concat([
      nonce,
      cipher.update(plaintext, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${keyId}.${sealed.toString('base64url')}`;
  }

  function open(sealed: string, context: string): string {
    const id = sealed.slice(0, KEY_ID_LENGTH);
    const key = keysById.get(id);
    if (!key) throw new SealedValueError('sealed with a key that is not configured');
    const bytes = Buffer.from(sealed.slice(KEY_ID_LENGTH + 1), 'base64url');
    if (sealed[KEY_ID_LENGTH] !== '.' || bytes.length < NONCE_BYTES + TAG_BYTES) {
      throw new SealedValueError('not a sealed value');
    }
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(id, context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
    try {
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
    } catch {
      throw new SealedValueError('altered, or sealed for another context');
    }
  }

  return { keyId, seal, open };
}
