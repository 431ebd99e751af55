import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { localSigner, sealKeystore } from '../apps/gateway/src/chain/signers/keystore-signer.ts';

/**
 * `npm run keys:new -- <file>`: draws a private key and writes it as an encrypted keystore, for a service signer, a hot wallet
 * or a deployer. The key is never shown; its address is printed.
 */
const USAGE = `Usage: npm run keys:new -- <keystore file> [--password-file <path>]

Draws a private key, writes it as an encrypted keystore and prints its address. The password is read from the password file
(<keystore file>.password when not given), which is made with a random one where there is none. Nothing is overwritten.
`;
const PRIVATE_FILE = { mode: 0o600, flag: 'wx' } as const;

try {
  const { positionals, values } = parseArgs({
    options: { 'password-file': { type: 'string' } },
    allowPositionals: true,
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new Error(USAGE);
  await makeKey(file, values['password-file'] ?? `${file}.password`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'It failed.'}\n`);
  process.exitCode = 1;
}

async function makeKey(file: string, passwordFile: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} is there already: a key is never overwritten.`);
  const password = await readFile(passwordFile, 'utf8').then(
    (text) => text.replace(/\r?\n$/, ''),
    () => undefined,
  );
  const drawn = password ?? randomBytes(24).toString('base64url');
  const key = `0x${randomBytes(32).toString('hex')}` as const;
  const keystore = await sealKeystore(key, drawn);
  // The password first: a keystore that nothing opens would be worse than a password that opens nothing.
  if (password === undefined) await writeFile(passwordFile, `${drawn}\n`, PRIVATE_FILE);
  await writeFile(file, `${keystore}\n`, PRIVATE_FILE);
  process.stdout.write(`${localSigner(key).address}\n`);
}
