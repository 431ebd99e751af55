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
  readonly console: readonly SecretConsoleUser[];
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

/** Somebody who can sign in to the console. */
export interface SecretConsoleUser {
  readonly id: string;
  readonly desk: 'partner' | 'operator' | 'vendor';
  /** The partner or the vendor; null at the operator’s desk. */
  readonly ownerId: string | null;
  readonly email: string;
  readonly name: string;
  readonly role: 'viewer' | 'support' | 'reviewer' | 'finance' | 'admin';
  readonly password: string;
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
  if (known?.console !== undefined && missing.length === 0) return known;
  const kept = known ?? newSecrets(make);
  const vendors = [...(known?.vendors ?? []), ...missing.map((name) => newVendor(name, make))];
  const users = known?.console ?? consoleUsers(kept.partners[0]?.id, vendors[0]?.id, make);
  const secrets: SandboxSecrets = { ...kept, vendors, console: users };
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

function newSecrets(make: SecretMaker): Omit<SandboxSecrets, 'vendors' | 'console'> {
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

/** One at each desk, and a second operator: some decisions take two people. */
function consoleUsers(
  partnerId: string | undefined,
  vendorId: string | undefined,
  make: SecretMaker,
): SecretConsoleUser[] {
  const admin = (
    desk: SecretConsoleUser['desk'],
    ownerId: string | undefined,
    email: string,
    name: string,
  ) => ({
    id: make.uuid(),
    desk,
    ownerId: ownerId ?? null,
    email,
    name,
    role: 'admin' as const,
    password: randomBytes(12).toString('base64url'),
  });
  return [
    admin('partner', partnerId, 'ada@acme-pay.example', 'Ada Acme'),
    admin('operator', undefined, 'olga@causeway.example', 'Olga Operator'),
    admin('operator', undefined, 'omar@causeway.example', 'Omar Operator'),
    admin('vendor', vendorId, 'vera@vendor.example', 'Vera Vendor'),
  ];
}

/** Any 256-bit number below the curve's order is a key; a random one misses that with a chance of 2^-128. */
function privateKey(): `0x${string}` {
  return `0x${randomBytes(32).toString('hex')}`;
}
