import { CausewayError, type OrderDirection, type OrderFacts, type OrderStatus } from '@causeway/protocol';
import { ChainUnavailableError } from '../../apps/gateway/src/chain/transactions/transaction-rpc.ts';
import { createWatcher } from '../../apps/gateway/src/chain/watcher/watcher.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { createIntentWorker } from '../../apps/gateway/src/engine/intent-worker.ts';
import {
  followReturns,
  returnDepositHandler,
} from '../../apps/gateway/src/features/orders/deposits/return-deposit.effect.ts';
import {
  bookHeldDeposits,
  creditDeposits,
  escrowFundingHandler,
  escrowPayoutHandlers,
  followAuthorizations,
} from '../../apps/gateway/src/features/orders/escrow/escrow.effect.ts';
import { offerOrderHandler } from '../../apps/gateway/src/features/orders/lifecycle/offer-order.effect.ts';
import { requestPaymentHandler } from '../../apps/gateway/src/features/orders/lifecycle/payment-request.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { SimulatedBank } from './bank.ts';
import { initialBalances, SimulatedChain } from './chain.ts';
import { isExplained, type SimulatedProcess, startProcess } from './process.ts';
import { Scheduler } from './scheduler.ts';
import { CHAIN, countedIds, EPOCH, type Ground, PARTIES } from './template.ts';

/** An order, as a step finds it. */
export interface SeenOrder {
  readonly order_id: string;
  readonly direction: OrderDirection;
  readonly status: OrderStatus;
  readonly facts: OrderFacts;
  readonly vendor_id: string | null;
  readonly escrow: { readonly address: `0x${string}`; readonly seller: `0x${string}` } | null;
  readonly crypto_amount: string;
  readonly partner_fee: string;
  readonly deposit_shortfall: string;
  readonly has_deadline: boolean;
  readonly statuses: readonly string[];
  readonly published: readonly string[];
  readonly open_effects: readonly string[];
  readonly entries: readonly string[];
  /** What the books say is in its escrow: its own deposit and what is held for review. */
  readonly booked: string;
  readonly is_watched: boolean;
  readonly deposits: readonly { readonly id: string; readonly disposition: string }[];
}

interface Seen {
  readonly orders: readonly SeenOrder[];
  readonly cursor: string | null;
  readonly off_balance: readonly string[];
  readonly overdrawn: readonly string[];
  readonly is_cleared: boolean;
}

const lookAtAll = statement<[], Seen>(
  'simulation.look',
  `SELECT coalesce((SELECT json_agg(json_build_object(
       'order_id', o.order_id, 'direction', o.direction, 'status', o.status, 'facts', o.facts, 'vendor_id', o.vendor_id,
       'escrow', o.escrow, 'crypto_amount', o.crypto_amount::text, 'partner_fee', o.partner_fee::text,
       'deposit_shortfall', o.deposit_shortfall::text, 'has_deadline', o.deadline_at IS NOT NULL,
       'statuses', (SELECT coalesce(json_agg(e->>'status'), '[]') FROM jsonb_array_elements(o.timeline) e),
       'published', (SELECT coalesce(json_agg(e.body::json->'data'->>'status' ORDER BY e.position), '[]') FROM events e
          WHERE e.subject_id = o.order_id AND e.event_type = 'order.status.changed'),
       'open_effects', (SELECT coalesce(json_agg(i.kind), '[]') FROM intents i WHERE i.payload ? 'order_id'
          AND i.payload->>'order_id' = o.order_id::text AND i.status IN ('prepared', 'submitted', 'unknown')),
       'entries', (SELECT coalesce(json_agg(l.kind), '[]') FROM ledger_entries l WHERE l.order_id = o.order_id),
       'booked', (SELECT coalesce(sum(p.amount), 0)::text FROM ledger_postings p
          WHERE p.account IN ('escrow:' || o.order_id, 'held:' || o.order_id)),
       'is_watched', EXISTS (SELECT FROM escrow_watches w WHERE w.order_id = o.order_id AND w.caught_up),
       'deposits', (SELECT coalesce(json_agg(json_build_object('id', d.deposit_id, 'disposition', d.disposition)), '[]')
          FROM deposit_observations d WHERE d.order_id = o.order_id)
     ) ORDER BY o.order_id) FROM orders o), '[]') AS orders,
     (SELECT block_number::text FROM chain_cursors) AS cursor,
     ARRAY(SELECT asset::text FROM ledger_postings GROUP BY asset HAVING sum(amount) <> 0) AS off_balance,
     ARRAY(SELECT o.offer_id::text FROM offers o LEFT JOIN simulated_offers s USING (offer_id)
            WHERE o.available_balance < 0 OR o.available_balance + coalesce(
              (SELECT sum(r.crypto) FROM offer_reservations r WHERE r.offer_id = o.offer_id), 0) > s.available_balance) AS overdrawn,
     (SELECT bool_and(kyc_status = 'VERIFIED') FROM users) AS is_cleared`,
);

export interface Quote {
  readonly quoteId: string;
  readonly direction: OrderDirection;
  attempts: number;
}

export interface Worker {
  readonly process: SimulatedProcess;
  readonly intents: ReturnType<typeof createIntentWorker>;
  readonly watcher: ReturnType<typeof createWatcher>;
}

const WALLET_UNITS = 10n ** 12n;

/** A whole deployment and everybody around it, as one seed has them. */
export class World {
  readonly ground: Ground;
  readonly scheduler = new Scheduler();
  readonly bank = new SimulatedBank();
  readonly quotes: Quote[] = [];
  quotesAsked = 0;
  readonly trace: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly chain: SimulatedChain;
  readonly ids = countedIds();
  readonly clock = createClock(() => this.now);
  now = EPOCH;
  violation: string | undefined;
  seen: Seen = { orders: [], cursor: null, off_balance: [], overdrawn: [], is_cleared: true };
  api: SimulatedProcess;
  workers: Worker[] = [];
  #starts = 0;
  readonly #tamper: (process: SimulatedProcess) => void;

  /** A test plants a fault into every process with `tamper`. */
  constructor(ground: Ground, tamper: (process: SimulatedProcess) => void = () => {}) {
    this.ground = ground;
    this.#tamper = tamper;
    const holders = [PARTIES.partner, PARTIES.thirdParty, ...PARTIES.vendors].map(({ address }) => address);
    const token = CHAIN.tokens[0]?.address as `0x${string}`;
    const balances = initialBalances(token, holders, WALLET_UNITS);
    this.chain = new SimulatedChain(CHAIN, PARTIES.service.address, balances, this.now);
    this.api = this.start('api');
  }

  start(role: string): SimulatedProcess {
    this.#starts += 1;
    const { ground, scheduler, chain, clock, ids } = this;
    const onUnexplained = (error: unknown, where: string) => this.fail(`${where}: ${textOf(error)}`);
    const process = startProcess(`${role}.${this.#starts}`, {
      ground,
      scheduler,
      chain,
      clock,
      ids,
      onUnexplained,
    });
    this.#tamper(process);
    return process;
  }

  startWorker(): Worker {
    const process = this.start('worker');
    const handlers = {
      'vendor.offer-order': offerOrderHandler(process),
      'vendor.request-fiat-payment': requestPaymentHandler(process),
      'escrow.deploy-and-watch': escrowFundingHandler(process),
      ...escrowPayoutHandlers(process),
      'escrow.return-deposit': returnDepositHandler(process),
    };
    return {
      process,
      intents: createIntentWorker(process, handlers, { concurrency: 4 }),
      watcher: createWatcher({
        ...process,
        settings: CHAIN,
        client: process.chains.get(CHAIN.slug).client,
        handlers: [creditDeposits(process), followReturns(process), followAuthorizations(process)],
        bookHeldDeposits: bookHeldDeposits(process),
      }),
    };
  }

  /** Begins something that a process does by itself. What the network spoilt is tried again; any other failure is a finding. */
  begin(what: string, work: Promise<unknown>): void {
    work.then(
      () => this.trace.push(`${what}: done`),
      (error: unknown) => {
        const isRefused = error instanceof CausewayError;
        if (isRefused) this.trace.push(`${what}: ${error.code}`);
        else if (isExplained(error) || error instanceof ChainUnavailableError) {
          this.trace.push(`${what}: no answer`);
        } else this.fail(`${what}: ${textOf(error)}`);
      },
    );
  }

  fail(violation: string): void {
    this.violation ??= violation;
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  isBusy({ process }: Worker): boolean {
    return this.scheduler.gates.some((gate) => gate.process === process.name);
  }

  async look(): Promise<void> {
    const [seen] = await this.ground.db.query(SYSTEM, lookAtAll, []);
    if (seen !== undefined) this.seen = seen;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/**
 * Rows of the world before go, and what was there before it comes back; far quicker than another database. Offers are put back in
 * one order: they are read as they lie, and the order in which a book has them is part of what a seed decides.
 */
export function clearGround({ session }: Ground): void {
  session.execute(`
    SET session_replication_role = replica;
    CREATE TABLE IF NOT EXISTS simulated_offers AS SELECT * FROM offers ORDER BY offer_id;
    GRANT SELECT ON simulated_offers TO causeway_system;
    ${CHANGED_TABLES.map((table) => `DELETE FROM ${table};`).join('\n')}
    DELETE FROM offers;
    UPDATE users SET kyc_status = 'VERIFIED' WHERE kyc_status <> 'VERIFIED'`);
  session.execute('VACUUM offers');
  session.execute(`
    INSERT INTO offers OVERRIDING SYSTEM VALUE SELECT * FROM simulated_offers ORDER BY offer_id;
    SET session_replication_role = origin`);
}

/** Every so many worlds the files are freed of the rows that are gone. */
export const TIDY_EVERY = 4;

export function tidyGround({ session }: Ground): void {
  session.execute(`VACUUM ${CHANGED_TABLES.join(', ')}`);
}

const CHANGED_TABLES = [
  'ledger_postings',
  'ledger_entries',
  'event_stream',
  'event_stream_floors',
  'events',
  'intents',
  'escrow_signatures',
  'payment_proofs',
  'order_stop_reasons',
  'compliance_cases',
  'vendor_events',
  'order_declines',
  'deposit_observations',
  'escrow_executions',
  'escrow_watches',
  'chain_cursors',
  'chain_signed_versions',
  'chain_transactions',
  'chain_nonces',
  'open_order_totals',
  'quote_claims',
  'offer_reservations',
  'webhook_deliveries',
  'orders',
  'quotes',
];
