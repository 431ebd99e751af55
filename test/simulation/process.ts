import type { Chains } from '../../apps/gateway/src/chain/chains.ts';
import { createTransactor } from '../../apps/gateway/src/chain/transactions/transactor.ts';
import { createDatabase, type Database } from '../../apps/gateway/src/db/database.ts';
import { createOrderAdapters } from '../../apps/gateway/src/features/orders/lifecycle/order.adapter.ts';
import { createCatalogueCheck } from '../../apps/gateway/src/features/payment-details/details-check.ts';
import type { Clock } from '../../apps/gateway/src/lib/clock.ts';
import type { IdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';
import type { WalletScreeningPort } from '../../apps/gateway/src/ports/wallet-screening.ts';
import { createInProcessOffers } from '../../apps/gateway/src/upstream/offers/offers-in-process.ts';
import type { SimulatedChain } from './chain.ts';
import { type Carry, simulatedClient } from './chain-rpc.ts';
import type { Fault, Scheduler } from './scheduler.ts';
import { SILENT_LISTENER, silentLogger } from './silence.ts';
import type { SubmittedBatch } from './sql-session.ts';
import { CHAIN, type Ground, PARTIES, SEALER, VAULTS } from './template.ts';

/** What a process is told where a call or its answer was lost. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';

  constructor(what: string) {
    super(`Connection lost: ${what}`);
  }
}

/** What processes share: the database, the chain, the clock and the scheduler. */
export interface Surroundings {
  readonly ground: Ground;
  readonly scheduler: Scheduler;
  readonly chain: SimulatedChain;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** An error that no fault of the network explains. */
  onUnexplained(error: unknown, where: string): void;
}

export type SimulatedProcess = ReturnType<typeof startProcess>;

const TIMEOUTS = {
  no_vendor_seconds: 900,
  no_escrow_funding_seconds: 1_800,
  no_fiat_seconds: 3_600,
  no_authorization_seconds: 1_800,
};
const ORDER_LIMITS = {
  partnerOpenOrders: 1_000,
  partnerHeldValueUsd: 1_000_000,
  customerOpenOrders: 1_000,
  customerHeldValueUsd: 1_000_000,
};
// Registering the same metrics twice is an error, and no world reads them.
const METRICS = createMetrics();
const CLEAR_WALLETS: WalletScreeningPort = {
  screen: async () => ({ status: 'clear', listed: [], listVersion: 'simulation' }),
};

const never = new Promise<never>(() => {});

/** One process of the gateway: the parts of `deps.ts`, put together over a database and nodes that are out of its hands. */
export function startProcess(name: string, around: Surroundings) {
  const { ground, scheduler, chain, clock, ids } = around;
  const life = { isAlive: true };

  /** From here on it neither asks nor learns anything. */
  function crash(): void {
    life.isAlive = false;
    scheduler.forget(name);
  }

  /** Lets a call through, or not, and its answer back, or not. */
  async function pass(what: string): Promise<Fault> {
    const fault = life.isAlive ? await scheduler.wait(name, what) : await never;
    if (fault !== 'crash before') return fault;
    crash();
    return never;
  }

  const carry: Carry = async (question, ask) => {
    const fault = await pass(question);
    if (fault === 'lost') throw new NetworkFault(question);
    const answer = ask();
    if (fault === 'crash after') {
      crash();
      return never;
    }
    if (fault === 'answer lost') throw new NetworkFault(question);
    return answer;
  };

  const db = simulatedDatabase(ground, pass, crash);
  const logger = silentLogger((error, message) => {
    if (!isExplained(error)) around.onUnexplained(error, message);
  });
  const client = simulatedClient(chain, carry);
  const { reservations } = createInProcessOffers({ db, listener: SILENT_LISTENER, logger });
  const chains: Chains = {
    service: PARTIES.service,
    all: [{ settings: CHAIN, client }],
    get: () => ({ settings: CHAIN, client }),
  };
  return {
    name,
    db,
    clock,
    ids,
    logger,
    chains,
    metrics: METRICS,
    transactor: createTransactor({ db, clock, ids, chains: chains.all, signers: [PARTIES.service] }),
    // The book is what it was when the process started; what has changed since it learns from the reservations.
    offers: { ...ground.offers, reservations },
    currencies: ground.currencies,
    orderAdapters: createOrderAdapters({ timeouts: TIMEOUTS }),
    orderLimits: ORDER_LIMITS,
    detailsCheck: createCatalogueCheck(ground.currencies),
    sealer: SEALER,
    vaults: VAULTS,
    walletScreening: CLEAR_WALLETS,
    depositTolerancePct: '1',
    quoteTtlSeconds: 60,
    tokensOf: () => CHAIN.tokens,
    isAlive: () => life.isAlive,
    crash,
  };
}

/** Whether the error is one that the simulated network has caused. */
export function isExplained(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof NetworkFault) return true;
  }
  return false;
}

/** A transaction begins when the scheduler says so and is over before anything else happens, as the one session wants it. */
function simulatedDatabase(
  ground: Ground,
  pass: (what: string) => Promise<Fault>,
  crash: () => void,
): Database {
  const { session } = ground;

  function connection(fault: Fault) {
    let isLost = false;
    return {
      release: () => {},
      query(batch: SubmittedBatch) {
        if (fault === 'lost' || isLost) {
          isLost = true;
          session.abandon();
          batch.handleError(new NetworkFault('statement'));
          return;
        }
        const answer = session.run(batch);
        // Only the end of a transaction has an answer that matters.
        if (session.isInTransaction || fault === 'none') {
          answer();
        } else if (fault === 'crash after') {
          crash();
        } else {
          isLost = true;
          batch.handleError(new NetworkFault('commit'));
        }
      },
    };
  }

  return createDatabase({
    connectionString: '',
    poolSize: 1,
    connections: {
      checkOut: async () => connection(await pass('sql')) as never,
      announce: async () => {},
      close: async () => {},
    },
  });
}
