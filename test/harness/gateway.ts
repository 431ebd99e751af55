import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Causeway, ClientOptions } from '@causeway/sdk';
import { inject } from 'vitest';
import { createApi } from '../../apps/gateway/src/api.ts';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { loadConfig } from '../../apps/gateway/src/config.ts';
import { createDeps, type Deps } from '../../apps/gateway/src/deps.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import type { ApiDescription } from '../../apps/gateway/src/http/openapi/document.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { type LocalChain, startLocalChain } from '../../apps/gateway/src/local/local-chain.ts';
import { CONFIRMATIONS } from '../../apps/gateway/src/local/local-services.ts';
import type { SandboxDescription, SandboxPartner } from '../../apps/gateway/src/local/sandbox-file.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { describeGround } from '../../apps/gateway/src/sandbox.ts';
import { createWorker } from '../../apps/gateway/src/worker.ts';
import { type Answer, type CallOptions, call } from './call.ts';
import { cloneDatabase, cloneSandboxDatabase } from './database.ts';
import type {} from './global-setup.ts';
import { type SdkAnswers, sdkAnswersOf, sdkOf } from './sdk.ts';
import { recordOperations } from './sdk-operations.ts';

export interface GatewayOptions {
  /** Real local chains with contracts and funded wallets; without them nothing can reach a chain. */
  readonly chains?: boolean;
  /** Another way to a chain's node than straight to it, such as past somebody who listens. */
  readonly nodeAddress?: (slug: string, rpcUrl: string) => Promise<string>;
  /** Carry out intents in this process; true with chains. */
  readonly worker?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** What the command line says: roles, of which this process would otherwise have all. */
  readonly args?: readonly string[];
  /** Other ways to its database than the owner's own, such as through a pooler. */
  readonly addresses?: (databaseUrl: string) => { readonly pooled: string; readonly direct: string };
  /** Another way to its database, such as past a proxy that a test has put there. */
  readonly databaseAddress?: (databaseUrl: string) => Promise<string>;
  /** A migrated database in place of a clone of a template. */
  readonly databaseUrl?: string;
  /** Receives every log line; none are written otherwise. */
  readonly onLog?: (line: string) => void;
}

export { type Answer, type CallOptions, call } from './call.ts';

/** For runs of thousands of orders by one customer. */
export const NO_ORDER_LIMITS = {
  OPEN_ORDERS_PER_PARTNER: '1000000000',
  OPEN_ORDERS_PER_CUSTOMER: '1000000000',
  HELD_VALUE_PER_PARTNER_USD: '1000000000',
  HELD_VALUE_PER_CUSTOMER_USD: '1000000000',
} as const;

/** A whole gateway in this process, on a database (and chains) of its own. */
export interface TestGateway {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly deps: Deps;
  readonly sandbox: SandboxDescription;
  /** The two partners; the first is enabled for fiat accounts. */
  readonly partners: readonly [SandboxPartner, SandboxPartner];
  /** Environment with which further processes join this deployment. */
  readonly env: Readonly<Record<string, string>>;
  /** Raw HTTP: for tests of the wire. Scenarios call through the SDK. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The SDK, the first partner's by default; a refusal is thrown. */
  sdk(apiKey?: string | null, options?: Partial<ClientOptions>): Causeway;
  /** The SDK of the first partner, the operator and whoever has a key; a refusal is an answer. */
  readonly partner: SdkAnswers;
  readonly operator: SdkAnswers['operator'];
  as(apiKey: string | null): SdkAnswers;
  /** Every route as OpenAPI, the console's own too, which no caller can read. */
  describeRoutes(): ApiDescription;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const ground = inject('ground');
  const home = await mkdtemp(join(tmpdir(), 'causeway-test-'));
  await cp(join(ground.templateHome, SECRETS_FILE), join(home, SECRETS_FILE));
  const ownUrl = options.databaseUrl ?? (await databaseFor(options.env ?? {}));
  const databaseUrl = (await options.databaseAddress?.(ownUrl)) ?? ownUrl;
  const { pooled, direct } = options.addresses?.(databaseUrl) ?? { pooled: databaseUrl, direct: databaseUrl };
  const nodes = options.chains ? await startChains(home, ground.chains) : [];
  const chains = await Promise.all(
    ground.chains.map(async (chain) => {
      const node = nodes.find(({ slug }) => slug === chain.slug)?.rpcUrl ?? 'http://127.0.0.1:9';
      const rpcUrl = (await options.nodeAddress?.(chain.slug, node)) ?? node;
      return { ...chain, rpcUrl, publicRpcUrl: rpcUrl };
    }),
  );
  const env = {
    CAUSEWAY_HOME: home,
    DATABASE_URL: pooled,
    DATABASE_DIRECT_URL: direct,
    CHAIN_RPC_URLS: chains.map(({ slug, rpcUrl }) => `${slug}=${rpcUrl}`).join(','),
    METRICS_PORT: 'off',
    PORT: '0',
    // Each new connection reads the catalogue and plans every statement anew: a fifth of the database's work in a run.
    DATABASE_POOL_SIZE: '5',
    LOG_LEVEL: options.onLog ? 'debug' : 'silent',
    ...options.env,
  };
  const config = loadConfig(env, options.args ?? []);
  const logger = createLogger({
    level: config.logLevel,
    format: 'json',
    destination: { write: (line) => options.onLog?.(line) },
  });
  const secrets = JSON.parse(await readFile(join(home, SECRETS_FILE), 'utf8')) as SandboxSecrets;
  const laid = describeGround(config, { home, databaseUrl: pooled, secrets, chains });
  const deps = await createDeps(config, laid.surroundings, logger, (early) =>
    seedSandbox({ ...early, at: early.clock.date() }, laid.seed),
  );
  const port = await pickPort(undefined);
  const baseUrl = `http://127.0.0.1:${port}`;
  const api = await createApi(deps, baseUrl);
  await api.listen({ host: '127.0.0.1', port });
  const worker = (options.worker ?? options.chains) ? createWorker(deps) : undefined;
  worker?.start();
  const sandbox = laid.describe(baseUrl);

  return {
    ...clientsAt(baseUrl, sandbox),
    databaseUrl,
    deps,
    sandbox,
    env,
    describeRoutes: () => api.app.apiDescription('every'),
    async stop() {
      recordOperations();
      await api.close();
      await worker?.stop();
      await deps.close();
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The ways to call a gateway of this sandbox at an address: its own, or one that leads to it. */
export function clientsAt(
  baseUrl: string,
  sandbox: SandboxDescription,
): Pick<TestGateway, 'baseUrl' | 'partners' | 'call' | 'sdk' | 'partner' | 'operator' | 'as'> {
  const partners = sandbox.partners as unknown as [SandboxPartner, SandboxPartner];
  const clients = new Map<string | null, SdkAnswers>();
  const as = (apiKey: string | null): SdkAnswers => {
    const client = clients.get(apiKey) ?? sdkAnswersOf(baseUrl, apiKey);
    clients.set(apiKey, client);
    return client;
  };
  return {
    baseUrl,
    partners,
    call: (method, path, callOptions = {}) =>
      call(baseUrl, method, path, { key: partners[0].apiKey, ...callOptions }),
    sdk: (apiKey = partners[0].apiKey, clientOptions) => sdkOf(baseUrl, apiKey, clientOptions),
    partner: as(partners[0].apiKey),
    operator: as(sandbox.operatorKey).operator,
    as,
  };
}

/** Backends elsewhere, other rates and another key begin with nothing of the sandbox's own. */
function databaseFor(env: Readonly<Record<string, string>>): Promise<string> {
  const own = ['CURRENCIES_URL', 'OFFERS_URL', 'RATE_SOURCES', 'DATA_ENCRYPTION_KEY'];
  return own.some((name) => name in env) ? cloneDatabase() : cloneSandboxDatabase();
}

async function startChains(home: string, chains: readonly ChainSettings[]): Promise<LocalChain[]> {
  const { templateHome } = inject('ground');
  await cp(join(templateHome, 'chains'), join(home, 'chains'), { recursive: true });
  return Promise.all(
    chains.map(({ slug, chainId }) =>
      startLocalChain({
        home,
        slug,
        chainId,
        confirmations: CONFIRMATIONS,
        // Nothing here has to survive a power cut.
        durable: false,
        onNotice: () => {},
      }),
    ),
  );
}
