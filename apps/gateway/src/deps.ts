import { type BridgePort, httpBridge } from './chain/bridge/bridge.ts';
import { type SimulatedBridge, simulateBridge } from './chain/bridge/simulated-bridge.ts';
import type { Address, ChainSettings } from './chain/chain-settings.ts';
import { type Chains, connectChains } from './chain/chains.ts';
import { nodeTroubles } from './chain/rpc/chain-client.ts';
import { localSigner, type Signer } from './chain/signers/keystore-signer.ts';
import type { HotWallet } from './chain/transactions/hot-wallets.ts';
import { createTransactor, type Transactor } from './chain/transactions/transactor.ts';
import type { Config } from './config.ts';
import {
  type CustomerAdapters,
  createCustomerAdapters,
  loadScreenings,
  type Screenings,
} from './customer-adapters.ts';
import { followDeploymentClock } from './db/clock-sync.ts';
import { createDatabase, type Database } from './db/database.ts';
import { createListener, type Listener } from './db/listener.ts';
import {
  createOrderAdapters,
  type OrderAdapters,
  orderTimeouts,
} from './features/orders/lifecycle/order.adapter.ts';
import { createCatalogueCheck, type DetailsCheck } from './features/payment-details/details-check.ts';
import { holderOfPaymentDetails } from './features/payment-details/payment-details.ts';
import type { OrderLimits } from './features/quotes/claim-quote.ts';
import { holderOfDestination } from './features/recipients/destinations.ts';
import { solverConduct } from './features/sandbox/seed.ts';
import { wakeSimulator } from './features/sandbox/simulator.effect.ts';
import type { ScreenCaseDeps } from './features/screening/screen-case.effect.ts';
import { screenKnownWallets } from './features/screening/screen-wallet.ts';
import { findSimulatedSigner, listSimulatedVendors } from './features/vendors/simulated-vendor.ts';
import type { AddressPolicy } from './features/webhooks/webhook-address.ts';
import {
  createWebhookSender,
  type OpenSecrets,
  secretOpener,
  type WebhookSender,
} from './features/webhooks/webhook-sender.ts';
import type { SandboxKeys } from './http/docs/sandbox-keys.ts';
import { createPrincipals, type Principals } from './http/principals.ts';
import { createRateLimit, type RateLimit } from './http/rate-limit.ts';
import { createClock, type MovableClock, machineNow } from './lib/clock.ts';
import { createSealer, type Sealer } from './lib/crypto.ts';
import { createIdGenerator, type IdGenerator } from './lib/ids.ts';
import type { Logger } from './lib/logger.ts';
import { createMetrics, type Metrics } from './lib/metrics.ts';
import { createNameResolver, type NameResolver } from './lib/name-resolver.ts';
import type { Currencies } from './ports/currencies.ts';
import type { Offers } from './ports/offers.ts';
import { type CurrenciesParts, createCurrenciesParts } from './upstream/currencies/currencies.ts';
import { seedReference } from './upstream/currencies/reference.ts';
import { createOffers } from './upstream/offers/offers.ts';
import { seedSandboxMarket } from './upstream/offers/offers-market.ts';
import { publishRateAges } from './upstream/rates/rate-ages.ts';
import { type BlindIndex, createBlindIndex, createVaults, loadIndexKey, type Vaults } from './vault/vault.ts';

/** What the configuration does not say in a sandbox, because the sandbox makes it itself. */
export interface Surroundings {
  readonly databaseUrl: string;
  /** The server itself, where `databaseUrl` leads to a pooler. */
  readonly databaseDirectUrl: string;
  readonly chains: readonly ChainSettings[];
  readonly serviceSigner: Signer;
  /** Who pays for transactions; the service's own key where there are none. */
  readonly hotWallets?: readonly HotWallet[];
  /** Read here where they were not before. */
  readonly screenings?: Screenings;
  /** 64 hex digits. */
  readonly dataEncryptionKey: string;
  /** The wallet of the simulated bridge; only in a sandbox. */
  readonly solverKey?: `0x${string}`;
  /** The wallet of the faucet; only in a sandbox. */
  readonly faucetKey?: `0x${string}`;
  /** One key of each class, for the docs page; only in a sandbox. */
  readonly sandboxKeys?: SandboxKeys;
  /** E-mail addresses of the console users that a sandbox was seeded with. */
  readonly sandboxUsers?: readonly string[];
}

/** Everything the program is made of. Built here and nowhere else. */
export interface Deps extends CustomerAdapters {
  readonly config: Config;
  readonly sandbox: boolean;
  readonly sandboxKeys: SandboxKeys | undefined;
  readonly sandboxUsers: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: MovableClock;
  readonly ids: IdGenerator;
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
  readonly rateLimit: RateLimit;
  readonly sealer: Sealer;
  /** Personal data: each person's under a key of its own. */
  readonly vaults: Vaults;
  /** Finds equal values without reading them. */
  readonly blindIndex: BlindIndex;
  readonly detailsCheck: DetailsCheck;
  /** Who holds an account that is to be screened. */
  readonly holders: ScreenCaseDeps['holders'];
  /** Reference data and rates, in memory. */
  readonly currencies: Currencies;
  readonly currenciesParts: CurrenciesParts;
  /** Who offers what, in memory. */
  readonly offers: Offers;
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly hotWallets: readonly HotWallet[];
  /** The way to other chains; none where no bridge is configured. */
  readonly bridge: BridgePort | undefined;
  /** The bridge again where it is the sandbox's own, whose solver the worker plays. */
  readonly simulatedBridge: SimulatedBridge | undefined;
  /** The wallet that gives tokens and gas away; only in a sandbox. */
  readonly faucet: Address | undefined;
  readonly orderAdapters: OrderAdapters;
  readonly orderLimits: OrderLimits;
  readonly webhookPolicy: AddressPolicy;
  /** Looks up the names that partners give. */
  readonly names: NameResolver;
  readonly sender: WebhookSender;
  /** The secrets that sign a partner's webhooks. */
  readonly openSecrets: OpenSecrets;
  /** Called when the deployment's clock has moved: whatever waits for a time should look again. */
  readonly onClockMoved: (() => void)[];
  close(): Promise<void>;
}

/** What exists before anything is read from the database, for those who put the first rows there. */
export type EarlyDeps = Pick<Deps, 'db' | 'ids' | 'clock' | 'sealer'>;

export async function createDeps(
  config: Config,
  around: Surroundings,
  logger: Logger,
  seed: (early: EarlyDeps) => Promise<void>,
): Promise<Deps> {
  const base = createBase(config, around, logger);
  const { db, clock, ids, sealer } = base;
  await seed({ db, ids, clock, sealer });
  const blindIndex = createBlindIndex(await loadIndexKey(db, sealer, clock));
  const market = await startMarket(base, around);
  const onClockMoved = await followClock(base);
  const sending = await createSending(base, around);
  const customerAdapters = createCustomerAdapters({
    config,
    screenings: around.screenings ?? (await loadScreenings(config)),
    db,
    clock,
    ids,
    encryptionKey: keyOf(around),
    sealer,
    blindIndex,
    alpha3Of: (alpha2) =>
      market.currencies.current().reference.catalogue.data.countries.find(({ code }) => code === alpha2)
        ?.alpha3,
  });
  const vaults = createVaults(sealer);
  // A sandbox is ready when it says so: its own partners and vendors have been screened.
  if (base.sandbox) {
    await screenKnownWallets({ db, clock, ids, ...customerAdapters }, config.walletRescreenSeconds);
  }

  return {
    ...base,
    sandboxKeys: around.sandboxKeys,
    sandboxUsers: around.sandboxUsers ?? [],
    ...market,
    ...sending,
    ...customerAdapters,
    ...orderPolicy(base),
    blindIndex,
    vaults,
    holders: {
      destination: (key) => holderOfDestination({ db, vaults }, key),
      payment_details: (key) => holderOfPaymentDetails({ db, vaults }, key),
    },
    detailsCheck: createCatalogueCheck(market.currencies),
    openSecrets: secretOpener(sealer),
    onClockMoved,
    close: () => closeAll(base, market),
  };
}

type Base = ReturnType<typeof createBase>;
type Market = Pick<Deps, 'currencies' | 'currenciesParts' | 'offers'>;

/** What needs nothing of the database to be built. */
function createBase(config: Config, around: Surroundings, logger: Logger) {
  const sandbox = config.environment === 'sandbox';
  const metrics = createMetrics();
  const db = createDatabase({
    connectionString: around.databaseUrl,
    poolSize: config.databasePoolSize,
    production: !sandbox,
    onRoundTrip: () => metrics.dbRoundTripsTotal.inc(),
    onError: () => metrics.dbQueryErrorsTotal.inc(),
  });
  const listener = createListener(around.databaseDirectUrl, (error) =>
    logger.warn({ err: error }, 'listener lost'),
  );
  const previousKeys = (config.dataEncryptionKeysPrevious ?? []).map((key) => Buffer.from(key, 'hex'));
  const chains = connectChains(around.chains, around.serviceSigner, {
    onTrouble: nodeTroubles(logger, metrics.registry),
  });
  const clock = createClock();
  const webhookPolicy = { allowLoopback: config.webhookAllowLoopback, ports: config.webhookPorts };
  const names = createNameResolver({ servers: config.dnsServers ?? [], wall: machineNow });
  return {
    config,
    sandbox,
    logger,
    metrics,
    db,
    listener,
    chains,
    webhookPolicy,
    names,
    ids: createIdGenerator(),
    clock,
    sealer: createSealer([keyOf(around), ...previousKeys]),
    principals: createPrincipals(db, listener, clock, logger),
    rateLimit: createRateLimit(db, machineNow, logger),
    sender: createWebhookSender(webhookPolicy, () => Math.floor(machineNow() / 1_000), {
      resolve: names.lookup,
    }),
  };
}

function keyOf({ dataEncryptionKey }: Surroundings): Buffer {
  return Buffer.from(dataEncryptionKey, 'hex');
}

/** Reference data, rates, offers and keys in memory. The listener starts here: all that is listened for is named by now. */
async function startMarket(base: Base, around: Surroundings): Promise<Market> {
  const { config, sandbox, logger, metrics, db, clock, listener, principals } = base;
  if (config.currenciesUrl === undefined) await seedReference(db, clock);
  const currenciesParts = createCurrenciesParts({
    db,
    listener,
    logger,
    wall: machineNow,
    holder: base.ids.uuid(),
    currenciesUrl: config.currenciesUrl,
    rateSources: config.rateSources,
    // Local chains stand for two of the listed ones.
    catalogue: sandbox ? { localChains: around.chains } : {},
  });
  const { currencies } = currenciesParts;
  publishRateAges(metrics.registry, currencies, machineNow);
  const offers = createOffers({ db, listener, logger, wall: machineNow, offersUrl: config.offersUrl });
  await listener.start();
  if (config.roles.includes('worker')) {
    const keeping = currenciesParts.rateKeeper.start();
    // A sandbox is ready to quote when it says so; elsewhere a slow feed must not delay the start.
    if (sandbox) await keeping;
  }
  await Promise.all([principals.refresh(), currenciesParts.start()]);
  if (sandbox && config.currenciesUrl === undefined && config.offersUrl === undefined) {
    await seedSandboxMarket(db, clock, currencies.current().reference.catalogue);
  }
  await offers.start();
  return { currencies, currenciesParts, offers };
}

async function followClock({ db, listener, clock, logger }: Base): Promise<(() => void)[]> {
  const onClockMoved: (() => void)[] = [];
  await followDeploymentClock(
    db,
    listener,
    clock,
    () => {
      for (const react of onClockMoved) react();
    },
    (error) => logger.error({ err: error }, 'following the clock failed'),
  );
  return onClockMoved;
}

/** What sends transactions, and the bridge to other chains. */
async function createSending(base: Base, around: Surroundings) {
  const { config, sandbox, db, clock, ids, sealer, chains } = base;
  const simulatedVendors = sandbox ? await listSimulatedVendors(db, sealer) : [];
  const solvers = around.solverKey === undefined ? [] : [localSigner(around.solverKey)];
  const faucets = around.faucetKey === undefined ? [] : [localSigner(around.faucetKey)];
  const hotWallets = around.hotWallets?.length ? around.hotWallets : [{ signer: chains.service }];
  const transactor = createTransactor({
    db,
    clock,
    ids,
    chains: chains.all,
    hotWallets,
    signers: [
      chains.service,
      ...simulatedVendors.map(({ privateKey }) => localSigner(privateKey)),
      ...solvers,
      ...faucets,
    ],
    findSigner: sandbox ? (address) => findSimulatedSigner(db, sealer, address) : undefined,
  });
  const [solver] = solvers;
  const simulatedBridge =
    solver &&
    simulateBridge({
      ...{ db, clock, ids, transactor },
      chains: around.chains,
      solver: solver.address,
      conductOf: (sender, recipient) => solverConduct(db, sender, recipient),
    });
  const bridge = simulatedBridge ?? configuredBridge(config);
  return { transactor, hotWallets, simulatedBridge, bridge, faucet: faucets[0]?.address };
}

function orderPolicy({ config, sandbox }: Base): Pick<Deps, 'orderAdapters' | 'orderLimits'> {
  return {
    orderAdapters: createOrderAdapters({
      timeouts: orderTimeouts(config),
      ...(sandbox ? { afterMove: wakeSimulator } : {}),
    }),
    orderLimits: {
      partnerOpenOrders: config.openOrdersPerPartner,
      partnerHeldValueUsd: config.heldValuePerPartnerUsd,
      customerOpenOrders: config.openOrdersPerCustomer,
      customerHeldValueUsd: config.heldValuePerCustomerUsd,
    },
  };
}

async function closeAll(
  { rateLimit, sender, names, listener, db, logger }: Base,
  { currenciesParts, offers }: Market,
): Promise<void> {
  await rateLimit.stop().catch((error) => logger.warn({ err: error }, 'last request counts were not shared'));
  await sender.close();
  names.close();
  await currenciesParts.rateKeeper.stop();
  await Promise.all([currenciesParts.stop(), offers.stop()]);
  await listener.close();
  await db.close();
}

function configuredBridge({ bridgeUrl, bridgeToken }: Config): BridgePort | undefined {
  if (bridgeUrl === undefined) return undefined;
  return httpBridge({ url: bridgeUrl, ...(bridgeToken === undefined ? {} : { accessToken: bridgeToken }) });
}
