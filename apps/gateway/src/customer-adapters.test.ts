import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, type ConfigError, loadConfig } from './config.ts';
import { createCustomerAdapters, loadScreenings } from './customer-adapters.ts';
import { startLocalYente } from './features/screening/names/testing/local-yente.ts';
import { createClock } from './lib/clock.ts';
import { createSealer } from './lib/crypto.ts';
import { createIdGenerator } from './lib/ids.ts';
import { createBlindIndex } from './vault/vault.ts';

/** Choosing adapters asks nothing of the database, so there is none. */
async function adaptersOf(env: Record<string, string>, environment: Config['environment']) {
  const config = { ...loadConfig(env, []), environment };
  return createCustomerAdapters({ ...deps, config, screenings: await loadScreenings(config) });
}
const deps = {
  db: undefined as never,
  clock: createClock(),
  ids: createIdGenerator(),
  encryptionKey: Buffer.alloc(32, 7),
  sealer: createSealer([Buffer.alloc(32, 7)]),
  blindIndex: createBlindIndex(Buffer.alloc(32, 7)),
  alpha3Of: () => 'DEU',
};
const SUMSUB = { SUMSUB_APP_TOKEN: 'token', SUMSUB_SECRET_KEY: 'secret', SUMSUB_WEBHOOK_SECRET: 'hook' };
const S3 = {
  DOCUMENTS_S3_ENDPOINT: 'https://s3.example.com',
  DOCUMENTS_S3_BUCKET: 'kyc',
  DOCUMENTS_S3_ACCESS_KEY_ID: 'id',
  DOCUMENTS_S3_SECRET_ACCESS_KEY: 'key',
};
const subject = { kind: 'individual', name: 'Ada Lovelace' } as const;

describe('the adapters of customers', () => {
  it('are simulated in a sandbox', async () => {
    const adapters = await adaptersOf({}, 'sandbox');
    expect(adapters.kycProvider.name).toBe('simulated');
    expect((await adapters.screening.screen(subject)).status).toBe('clear');
  });

  it('clear no customer in a production that has neither a provider nor a list', async () => {
    const adapters = await adaptersOf({}, 'production');
    expect(adapters.kycProvider.name).toBe('manual');
    const started = { submissionId: 's', reference: 's' };
    expect(await adapters.kycProvider.readResult(started)).toMatchObject({ outcome: 'review_requested' });
    expect(adapters.kycProvider.readCallback({ headers: {}, rawBody: Buffer.alloc(0) }).kind).toBe('refused');
    expect((await adapters.screening.screen(subject)).status).toBe('review');
  });

  it('are the real ones where they are configured', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-adapters-'));
    try {
      const list = join(folder, 'targets.simple.csv');
      const head =
        'id,schema,name,aliases,birth_date,countries,addresses,identifiers,sanctions,phones,emails,dataset';
      await writeFile(list, `${head}\n"x-1","Person","Viktor Examplov","","","","","","","","","test"\n`);
      const env = { ...SUMSUB, ...S3, SANCTIONS_LIST_FILE: list };
      const adapters = await adaptersOf(env, 'production');
      expect(adapters.kycProvider.name).toBe('sumsub');
      expect((await adapters.screening.screen(subject)).status).toBe('clear');
      const alike = { ...subject, name: 'Viktor Exemplov' };
      expect((await adapters.screening.screen(alike)).status).toBe('review');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each(['sandbox', 'production'] as const)('ask yente in a %s that names one', async (environment) => {
    const yente = await startLocalYente({
      entities: [{ id: 'NK-1', schema: 'Person', names: ['Viktor Examplov'], datasets: ['us_ofac_sdn'] }],
      collection: 'default',
      apiKey: 'key',
    });
    try {
      const env = { YENTE_URL: yente.url, YENTE_DATASET: 'us_ofac_sdn', YENTE_API_KEY: 'key' };
      const { screening } = await adaptersOf(env, environment);
      expect((await screening.screen(subject)).status).toBe('clear');
      expect((await screening.screen({ ...subject, name: 'Viktor Examplov' })).status).toBe('review');
    } finally {
      await yente.close();
    }
    const { screening } = await adaptersOf({ YENTE_URL: yente.url }, environment);
    await expect(screening.screen(subject)).rejects.toThrow('does not answer');
  });

  it('name every list that cannot be read or used by its variable, all at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-lists-'));
    try {
      const [absent, text] = [join(folder, 'absent.csv'), join(folder, 'addresses.txt')];
      await writeFile(text, 'no address in here');
      const problemsOf = (env: Record<string, string>) =>
        adaptersOf(env, 'production').then(
          () => [],
          (error: ConfigError) => error.problems,
        );
      expect(await problemsOf({ SANCTIONS_LIST_FILE: absent, SANCTIONS_ADDRESSES_FILE: text })).toEqual([
        `SANCTIONS_LIST_FILE (${absent}): cannot be read (ENOENT).`,
        `SANCTIONS_ADDRESSES_FILE (${text}): the list of addresses has none.`,
      ]);
      expect(await problemsOf({ SANCTIONS_LIST_FILE: absent })).toEqual([
        `SANCTIONS_LIST_FILE (${absent}): cannot be read (ENOENT).`,
      ]);
      expect(await problemsOf({ SANCTIONS_LIST_FILE: text, SANCTIONS_ALTERNATES_FILE: absent })).toEqual([
        `SANCTIONS_ALTERNATES_FILE (${absent}): cannot be read (ENOENT).`,
      ]);
      expect(await problemsOf({ SANCTIONS_LIST_FILE: text })).toEqual([
        `SANCTIONS_LIST_FILE (${text}): the format of the list is not known.`,
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
