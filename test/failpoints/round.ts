import { createServer } from 'node:net';
import { type RpcProxy, startRpcProxy } from '../../apps/gateway/src/chain/testing/rpc-proxy.ts';
import { clientsAt, startGateway, type TestGateway } from '../harness/gateway.ts';
import { readDescription } from '../invariants/described-routes.ts';
import { startPatientProxy } from './patient-proxy.ts';
import type { Program } from './program.ts';
import type { FailpointPlan } from './runtime.ts';
import { type Supervisor, startSupervisor } from './supervisor.ts';

/** One deployment whose only gateway process meets failpoints, driven from outside until what was begun is settled. */
export interface Round {
  readonly gateway: TestGateway;
  readonly supervisor: Supervisor;
  /** The way to each chain's node, by the slug of the chain. */
  readonly nodes: ReadonlyMap<string, RpcProxy>;
  readonly contradictions: readonly string[];
  stop(): Promise<void>;
}

/** Walks move the business clock past these. */
export const VENDOR_RESPONSE_SECONDS = 3_000;
export const EVENT_RETENTION_DAYS = 7;

/** Business time runs with the machine's: what waits for a person must not expire while processes are restarted. */
const UNHURRIED = {
  QUOTE_TTL_SECONDS: '3600',
  ORDER_TIMEOUT_NO_VENDOR_SECONDS: '7200',
  ORDER_TIMEOUT_NO_ESCROW_SECONDS: '7200',
  ORDER_TIMEOUT_NO_FIAT_SECONDS: '7200',
  ORDER_TIMEOUT_NO_AUTHORIZATION_SECONDS: '7200',
  RATE_LIMIT_PARTNER_PER_MINUTE: '100000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '100000',
  CONSOLE_SIGN_INS_PER_MINUTE: '10000',
  ORDER_VENDOR_RESPONSE_SECONDS: `${VENDOR_RESPONSE_SECONDS}`,
  EVENT_RETENTION_DAYS: `${EVENT_RETENTION_DAYS}`,
  RECONCILIATION_SECONDS: '10',
};

export async function startRound(program: Program, plan: FailpointPlan): Promise<Round> {
  // The test's own process reads database and chains; requests and effects are the other one's.
  const nodes = new Map<string, RpcProxy>();
  const ground = await startGateway({
    chains: true,
    worker: false,
    args: ['api'],
    env: UNHURRIED,
    nodeAddress: async (slug, rpcUrl) => {
      const node = await startRpcProxy(rpcUrl);
      nodes.set(slug, node);
      return node.url;
    },
  });
  const port = await freePort();
  const supervisor = await startSupervisor(program, plan, {
    databaseUrl: ground.databaseUrl,
    env: { ...ground.env, PORT: String(port), LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
  });
  const proxy = await startPatientProxy(port, supervisor, await answeredOnce(ground));
  await supervisor.ready();
  return {
    gateway: { ...ground, ...clientsAt(proxy.url, ground.sandbox) },
    supervisor,
    nodes,
    contradictions: proxy.contradictions,
    async stop() {
      await proxy.close();
      await supervisor.stop();
      await ground.stop();
      await Promise.all([...nodes.values()].map((node) => node.close()));
    },
  };
}

/** By the description: a request of these operations has one answer for its key. Others promise none, such as a new session. */
async function answeredOnce(gateway: TestGateway): Promise<(method: string, path: string) => boolean> {
  const { paths } = await readDescription(gateway);
  const once = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(([method]) => new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`, 'i')),
  );
  if (once.length === 0) throw new Error('the description names no operation with an Idempotency-Key');
  return (method, path) => once.some((operation) => operation.test(`${method} ${path}`));
}

/** Always the same for every process of a round. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
