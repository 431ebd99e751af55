import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import type { Address, ChainSettings, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { localSigner } from '../../apps/gateway/src/chain/signers/keystore-signer.ts';
import { createDatabase, type Database, SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { migrateEmpty } from '../../apps/gateway/src/db/migrate.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { createCatalogueCheck } from '../../apps/gateway/src/features/payment-details/details-check.ts';
import { createPaymentDetails } from '../../apps/gateway/src/features/payment-details/payment-details.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import { createSimulatedScreening } from '../../apps/gateway/src/features/screening/names/list-screening.ts';
import { createUser } from '../../apps/gateway/src/features/users/user.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createSealer } from '../../apps/gateway/src/lib/crypto.ts';
import type { IdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import type { Currencies } from '../../apps/gateway/src/ports/currencies.ts';
import type { Offers } from '../../apps/gateway/src/ports/offers.ts';
import { createInProcessCurrencies } from '../../apps/gateway/src/upstream/currencies/currencies-in-process.ts';
import { seedReference } from '../../apps/gateway/src/upstream/currencies/reference.ts';
import { seedOffers } from '../../apps/gateway/src/upstream/offers/offers.store.ts';
import { createInProcessOffers } from '../../apps/gateway/src/upstream/offers/offers-in-process.ts';
import { createBlindIndex, createVaults } from '../../apps/gateway/src/vault/vault.ts';
import { SILENT_LISTENER, silentLogger } from './silence.ts';
import { SqlSession, type SubmittedBatch, startedWithoutTimers } from './sql-session.ts';

/** The first moment of every simulated world. */
export const EPOCH = Date.parse('2026-01-05T08:00:00Z');

const keyOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
const partyKey = (n: number) => keyOf(0xca5e_0000 + n);
const signerOf = (n: number) => localSigner(partyKey(n));
const contractAt = (n: number): Address => signerOf(n).address;

/** Who signs; a third party is anyone who is none of the others. */
export const PARTIES = {
  service: signerOf(1),
  partner: signerOf(2),
  vendors: [signerOf(3), signerOf(4)],
  thirdParty: signerOf(5),
} as const;

export const CHAIN: ChainSettings = {
  slug: 'base-mainnet',
  chainId: 8_453,
  rpcUrl: '',
  publicRpcUrl: 'https://rpc.example',
  confirmations: 3,
  contracts: {
    safeSingleton: contractAt(11),
    safeProxyFactory: contractAt(12),
    multiSendCallOnly: contractAt(13),
    fallbackHandler: contractAt(14),
    forwarder: contractAt(15),
    router: contractAt(16),
  },
  tokens: [{ code: 'USDC', address: contractAt(17), decimals: 6 }],
  treasury: contractAt(18),
};

/** Ids that are the same in every run and sort in the order in which they were made. */
export function countedIds(): IdGenerator {
  let made = 0;
  const uuid = () => `01980000-0000-7000-8000-${(made++).toString(16).padStart(12, '0')}`;
  return { uuid, eventId: () => `evt_${uuid()}` };
}

export const SEALER = createSealer([Buffer.alloc(32, 7)]);
export const VAULTS = createVaults(SEALER);

/** What all worlds of a process share: one database that is put back after each, and the reference data in memory. */
export interface Ground {
  readonly session: SqlSession;
  /** Unscheduled: for laying the ground and for looking at it. */
  readonly db: Database;
  readonly currencies: Currencies;
  readonly offers: Offers;
  readonly partnerId: string;
  readonly userId: string;
  readonly paymentDetailsId: number;
  readonly vendorIds: readonly string[];
  close(): Promise<void>;
}

export async function layGround(): Promise<Ground> {
  const file = new URL(`${await templateName()}.tar`, CACHE);
  const cached = await readFile(file).catch(() => undefined);
  // Also where it was just made: every world begins with a server that has just been started on the same files.
  const engine = await startedWithoutTimers(async () => open(cached ?? (await makeTemplate(file))));
  const session = new SqlSession(engine);
  // Planning anew costs more than the statements themselves, whose tables have a handful of rows.
  session.execute(
    `SET TimeZone = 'UTC'; SET plan_cache_mode = force_generic_plan; SET synchronous_commit = off`,
  );
  const db = plainDatabase(session);
  const currencies = await loadCurrencies(db);
  const offers = createInProcessOffers({ db, listener: SILENT_LISTENER, logger: silentLogger() });
  await offers.start();
  const [known] = await db.query(SYSTEM, readKnown, []);
  if (known === undefined) throw new Error('the template is empty');
  return {
    session,
    db,
    currencies,
    offers,
    partnerId: known.partner_id,
    userId: known.user_id,
    paymentDetailsId: Number(known.payment_details_id),
    vendorIds: known.vendor_ids,
    close: () => engine.close(),
  };
}

const CACHE = new URL('../../node_modules/.cache/causeway/', import.meta.url);
const MIGRATIONS = new URL('../../apps/gateway/src/db/migrations/', import.meta.url);

/** A database that was made from other files is another one. */
async function templateName(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(new URL(import.meta.url)));
  for (const name of (await readdir(MIGRATIONS)).sort())
    hash.update(await readFile(new URL(name, MIGRATIONS)));
  return `simulation-${hash.digest('hex').slice(0, 16)}`;
}

function open(tar: Uint8Array): Promise<PGlite> {
  return PGlite.create({ loadDataDir: new Blob([Buffer.from(tar)]) });
}

/** Starting a new server and migrating it takes seconds, so it is done once for each state of the migrations. */
async function makeTemplate(file: URL): Promise<Uint8Array> {
  const engine = await PGlite.create();
  const query = (text: string, params?: unknown[]) =>
    params === undefined ? engine.exec(text).then((results) => results.at(-1)) : engine.query(text, params);
  await migrateEmpty({ query } as never);
  await seed(plainDatabase(new SqlSession(engine)));
  await engine.exec('VACUUM ANALYZE');
  const dump = Buffer.from(await (await engine.dumpDataDir('none')).arrayBuffer());
  await engine.close();
  await mkdir(CACHE, { recursive: true });
  // Two processes may make it at once; each puts a whole file there.
  const part = new URL(`${file.href}.${process.pid}`);
  await writeFile(part, dump);
  await rename(part, file);
  return dump;
}

function plainDatabase(session: SqlSession): Database {
  const query = (batch: unknown) => session.run(batch as SubmittedBatch)();
  const connection = { query, release: () => {} } as never;
  return createDatabase({
    connectionString: '',
    poolSize: 1,
    connections: {
      checkOut: async () => connection,
      announce: async () => {},
      close: async () => {},
    },
  });
}

const readKnown = statement<
  [],
  { partner_id: string; user_id: string; payment_details_id: string; vendor_ids: string[] }
>(
  'simulation.known',
  `SELECT u.partner_id, u.user_id, d.payment_details_id,
          (SELECT array_agg(vendor_id ORDER BY name) FROM vendors) AS vendor_ids
     FROM users u JOIN payment_details d USING (user_id)`,
);
const publishRates = statement<[legs: string, at: Date]>(
  'simulation.rates',
  'UPDATE rate_book SET legs = $1::jsonb, published_at = $2',
);
const clearCustomers = statement<[]>(
  'simulation.clear_customers',
  `UPDATE users SET kyc_status = 'VERIFIED'`,
);
const clearCases = statement<[]>(
  'simulation.clear_cases',
  `UPDATE screening_cases SET screening_status = 'clear'`,
);
const dropIntents = statement<[]>('simulation.drop_intents', `DELETE FROM intents`);

/** Rates are as old as their publication, so these never grow old. */
const FAR_FUTURE = new Date('2100-01-01T00:00:00Z');

async function seed(db: Database): Promise<void> {
  const ids = countedIds();
  const clock = createClock(() => EPOCH);
  await seedReference(db, clock);
  const names = ['Vendor A', 'Vendor B'];
  await seedSandbox(
    { db, ids, sealer: SEALER, at: clock.date() },
    {
      operatorKey: 'operator_key',
      console: [],
      settlementChain: CHAIN.slug,
      platformFeePct: '0.5',
      partners: [
        {
          id: ids.uuid(),
          name: 'Partner',
          apiKey: 'partner_key',
          widgetKey: 'widget_key',
          webhookSecret: 'secret',
          walletAddress: PARTIES.partner.address,
          fiatAccountsEnabled: false,
        },
      ],
      vendors: names.map((name, n) => ({
        id: ids.uuid(),
        name,
        apiKey: `vendor_key_${n}`,
        walletAddress: contractAt(3 + n),
        walletKey: partyKey(3 + n),
        kind: 'p2p' as const,
        reputation: { completedOrders: 100, failedOrders: 0, disputedOrders: 0 },
      })),
    },
  );
  await db.query(SYSTEM, publishRates, [rateLegs(), FAR_FUTURE]);
  await db.query(SYSTEM, seedOffers, [JSON.stringify(offersOf(names, ids))]);
  await seedCustomer(db, ids);
}

function rateLegs(): string {
  const leg = (base: string, quote: string, rate: string) => ({
    base,
    quote,
    rate,
    as_of: FAR_FUTURE.getTime() - 1,
    sources: ['simulation'],
    status: 'fresh',
  });
  return JSON.stringify([leg('USDC', 'USD', '1'), leg('USD', 'EUR', '0.9')]);
}

/** Two vendors that buy and sell; of one of them an order can take all that it has. */
function offersOf(vendorNames: readonly string[], ids: IdGenerator): object[] {
  return vendorNames.flatMap((vendor_name, n) =>
    ['SELL', 'BUY'].map((side) => ({
      offer_id: ids.uuid(),
      vendor_name,
      side,
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      fixed_price: null,
      margin_pct: n === 0 ? '0.5' : '0.6',
      min_amount: '10',
      max_amount: '1000',
      payment_options: [{ network_slug: 'iban-sepa', method_slugs: 'all' }],
      countries: ['DE'],
      available_balance: n === 0 ? '400' : '100000',
      created_at: new Date(EPOCH).toISOString(),
    })),
  );
}

async function seedCustomer(db: Database, ids: IdGenerator): Promise<void> {
  const clock = createClock(() => EPOCH);
  const deps = { db, clock, ids };
  const currencies = await loadCurrencies(db);
  const [{ partner_id: partnerId } = { partner_id: '' }] = await db.query(SYSTEM, anyPartner, []);
  const blindIndex = createBlindIndex(Buffer.alloc(32, 8));
  const person = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' };
  const user = await unitOfWork(deps, SYSTEM, (unit) =>
    createUser({ vaults: VAULTS, blindIndex }, unit, partnerId, person),
  );
  await db.query(SYSTEM, clearCustomers, []);
  const screening = createSimulatedScreening();
  await unitOfWork(deps, SYSTEM, (unit) =>
    createPaymentDetails(
      { vaults: VAULTS, detailsCheck: createCatalogueCheck(currencies), screening },
      unit,
      user.id,
      {
        rail: 'iban-sepa',
        currency: 'EUR',
        countryCode: 'DE',
        institutionId: undefined,
        details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
      },
    ),
  );
  await db.query(SYSTEM, clearCases, []);
  await db.query(SYSTEM, dropIntents, []);
}

const anyPartner = statement<[], { partner_id: string }>(
  'simulation.partner',
  'SELECT partner_id FROM partners',
);

async function loadCurrencies(db: Database): Promise<Currencies> {
  const currencies = createInProcessCurrencies({
    db,
    listener: SILENT_LISTENER,
    logger: silentLogger(),
    wall: () => EPOCH,
    catalogue: { localChains: [CHAIN] } as never,
  });
  await currencies.start();
  return currencies;
}
