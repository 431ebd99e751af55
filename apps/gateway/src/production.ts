import { readFile } from 'node:fs/promises';
import { localSigner, openKeystore, type Signer } from './chain/signers/keystore-signer.ts';
import { connectRemoteSigner } from './chain/signers/remote-signer.ts';
import type { HotWallet } from './chain/transactions/hot-wallets.ts';
import type { ConfiguredHotWallet } from './config/hot-wallets-file.ts';
import { allConfigured, ofVariable } from './config/problems.ts';
import type { Config } from './config.ts';
import { loadScreenings } from './customer-adapters.ts';
import { type Database, SYSTEM } from './db/database.ts';
import { statement } from './db/statement.ts';
import type { Surroundings } from './deps.ts';
import type { MovableClock } from './lib/clock.ts';
import { sha256Hex } from './lib/crypto.ts';
import type { IdGenerator } from './lib/ids.ts';

/**
 * A production deployment brings everything itself; the configuration has already refused what is missing. What is wrong
 * with the keys and lists that it names is told here, all of it, before the database is touched.
 */
export async function productionSurroundings(config: Config): Promise<Surroundings> {
  const { databaseUrl, dataEncryptionKey } = config;
  if (databaseUrl === undefined || dataEncryptionKey === undefined) {
    throw new Error('production needs DATABASE_URL and DATA_ENCRYPTION_KEY');
  }
  const wallets = config.hotWallets.map((wallet, place) => {
    const subject = `HOT_WALLETS_FILE (${config.hotWalletsFile}), wallet ${place + 1}`;
    return ofVariable(subject, () => openHotWallet(wallet), filesOf(wallet, subject));
  });
  const [signer, hotWallets, screenings] = await allConfigured([
    serviceSigner(config),
    allConfigured(wallets),
    loadScreenings(config),
  ]);
  return {
    databaseUrl,
    databaseDirectUrl: config.databaseDirectUrl ?? databaseUrl,
    serviceSigner: signer,
    hotWallets,
    screenings,
    dataEncryptionKey,
    chains: config.chains,
  };
}

/** From a key service, an encrypted file or the environment, in this order of safety. */
async function serviceSigner(config: Config): Promise<Signer> {
  const { serviceSignerUrl: url, serviceSignerKeyId: keyId, serviceSignerKeystore: keystore } = config;
  if (url !== undefined && keyId !== undefined) {
    const token = config.serviceSignerToken;
    const settings = { url, keyId, ...(token === undefined ? {} : { accessToken: token }) };
    return ofVariable('SERVICE_SIGNER_URL', () => connectRemoteSigner(settings));
  }
  if (keystore !== undefined) {
    const password = config.serviceSignerKeystorePassword ?? '';
    return ofVariable(
      `SERVICE_SIGNER_KEYSTORE (${keystore}) with SERVICE_SIGNER_KEYSTORE_PASSWORD`,
      async () => openKeystore(await readFile(keystore, 'utf8'), password),
      { SERVICE_SIGNER_KEYSTORE: keystore },
    );
  }
  if (config.serviceSignerKey === undefined) throw new Error('production needs SERVICE_SIGNER_KEY');
  return localSigner(config.serviceSignerKey);
}

/** Fails the start where a key cannot be had: a wallet that cannot sign would hold up whatever is given to it. */
async function openHotWallet({ key, chains }: ConfiguredHotWallet): Promise<HotWallet> {
  const signer =
    'keystore' in key
      ? await openKeystore(await readFile(key.keystore, 'utf8'), await secretIn(key.passwordFile))
      : await connectRemoteSigner({
          url: key.url,
          keyId: key.keyId,
          ...(key.accessTokenFile === undefined ? {} : { accessToken: await secretIn(key.accessTokenFile) }),
        });
  return { signer, ...(chains === undefined ? {} : { chains }) };
}

function filesOf(
  { key }: ConfiguredHotWallet,
  subject: string,
): Readonly<Record<string, string | undefined>> {
  return 'keystore' in key
    ? { [`${subject}, keystore`]: key.keystore, [`${subject}, password_file`]: key.passwordFile }
    : { [`${subject}, access_token_file`]: key.accessTokenFile };
}

/** Editors end files with a line break, which is no part of a password. */
async function secretIn(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
}

const installFirstOperatorKey = statement<[keyId: string, keyHash: string, hint: string, at: Date]>(
  'operators.install_first_key',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, label, created_at)
   SELECT $1, 'operator', NULL, $2, $3, 'first operator key', $4
    WHERE NOT EXISTS (SELECT FROM api_keys WHERE kind = 'operator')`,
);

/** Without it a second one could not be made. */
export async function installOperatorKey(
  deps: { readonly db: Database; readonly ids: IdGenerator; readonly clock: MovableClock },
  config: Config,
): Promise<void> {
  if (config.operatorKey === undefined) return;
  await deps.db.query(SYSTEM, installFirstOperatorKey, [
    deps.ids.uuid(),
    sha256Hex(config.operatorKey),
    `cw_operator_…${config.operatorKey.slice(-4)}`,
    deps.clock.date(),
  ]);
}
