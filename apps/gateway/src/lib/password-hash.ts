import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * Passwords as argon2id in PHC form. The figures are OWASP’s for servers: 19 MiB and two passes cost a guesser what they cost
 * us, and a sign-in some tens of milliseconds on another thread.
 */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const derive = promisify(argon2);

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await argon2id(password, salt, MEMORY_KIB, PASSES, LANES, HASH_BYTES);
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${base64(salt)}$${base64(hash)}`;
}

/** Null stands for a user that does not exist or has no password: it takes as long as a wrong one. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = PHC.exec(stored ?? '');
  if (parts === null) {
    await argon2id(password, randomBytes(SALT_BYTES), MEMORY_KIB, PASSES, LANES, HASH_BYTES);
    return false;
  }
  const [, memory, passes, lanes, salt = '', expected = ''] = parts;
  const hash = Buffer.from(expected, 'base64');
  const given = await argon2id(
    password,
    Buffer.from(salt, 'base64'),
    Number(memory),
    Number(passes),
    Number(lanes),
    hash.length,
  );
  return timingSafeEqual(given, hash);
}

async function argon2id(
  password: string,
  nonce: Uint8Array,
  memory: number,
  passes: number,
  parallelism: number,
  tagLength: number,
): Promise<Buffer> {
  // One way to write each character, whatever keyboard it came from.
  const message = Buffer.from(password.normalize('NFKC'));
  return (await derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength })) as Buffer;
}
