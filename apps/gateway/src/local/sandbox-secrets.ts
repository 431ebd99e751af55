import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from './atomic-file.ts';

/**
 * Everything secret that a sandbox makes for itself, once: the database is seeded from it and holds hashes and sealed
 * values only. Random in every home, so that no sandbox's key opens another.
 */
export interface SandboxSecrets {
  readonly dataEncryptionKey: string;
  readonly serviceSignerKey: `0x${string}`;
  readonly treasuryKey: `0x${string}`;
  readonly deployerKey: `0x${string}`;
  readonly operatorKey: string;
  readonly partners: readonly SecretPartner[];
  readonly vendors: readonly SecretVendor[];
}

export interface SecretPartner {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly widgetKey: string;
  readonly webhookSecret: string;
  readonly walletKey: `0x${string}`;
  readonly fiatAccountsEnabled: boolean;
}

export interface SecretVendor {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly walletKey: `0x${string}`;
}

/** Makes ids and tokens; the caller has the generators. */
export interface SecretMaker {
  uuid(): string;
  token(kind: 'partner' | 'widget' | 'vendor' | 'operator' | 'webhook'): string;
}

const PARTNER_NAMES = ['Acme Pay', 'Globex Money'] as const;

export const SECRETS_FILE = 'sandbox-secrets.json';

/** Reads the secrets of a home, or makes them. Vendors that a newer release adds are made when it first starts. */
export async function sandboxSecrets(
  home: string,
  vendorNames: readonly string[],
  make: SecretMaker,
): Promise<SandboxSecrets> {
  const path = join(home, SECRETS_FILE);
  const known = await readSecrets(path);
  const missing = vendorNames.filter((name) => !known?.vendors.some((vendor) => vendor.name === name));
  if (known !== undefined && missing.length === 0) return known;
  const secrets: SandboxSecrets = {
    ...(known ?? newSecrets(make)),
    vendors: [...(known?.vendors ?? []), ...missing.map((name) => newVendor(name, make))],
  };
  await writeFileAtomically(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

async function readSecrets(path: string): Promise<SandboxSecrets | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as SandboxSecrets;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read. Restore it, or start afresh by removing its folder.`, {
      cause: error,
    });
  }
}

function newSecrets(make: SecretMaker): Omit<SandboxSecrets, 'vendors'> {
  return {
    dataEncryptionKey: randomBytes(32).toString('hex'),
    serviceSignerKey: privateKey(),
    treasuryKey: privateKey(),
    deployerKey: privateKey(),
    operatorKey: make.token('operator'),
    partners: PARTNER_NAMES.map((name, position) => ({
      id: make.uuid(),
      name,
      apiKey: make.token('partner'),
      widgetKey: make.token('widget'),
      webhookSecret: make.token('webhook'),
      walletKey: privateKey(),
      // One of each, so that both answers of the fiat-account endpoints can be tried.
      fiatAccountsEnabled: position === 0,
    })),
  };
}

function newVendor(name: string, make: SecretMaker): SecretVendor {
  return { id: make.uuid(), name, apiKey: make.token('vendor'), walletKey: privateKey() };
}

/** Any 256-bit number below the curve's order is a key; a random one misses that with a chance of 2^-128. */
function privateKey(): `0x${string}` {
  return `0x${randomBytes(32).toString('hex')}`;
}
