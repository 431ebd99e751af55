import { type Address, getAddress } from 'viem';
import { expect } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import {
  checkOutbox,
  checkReading,
  checkReasons,
  checkTimeline,
  type StoredEvent,
  type WireOrder,
} from './check-order.ts';
import {
  CONTRACT_ROWS,
  type Direction,
  isEscrowFull,
  type RowName,
  type Situation,
  type Stop,
} from './order-contract.ts';
import {
  bookedNet,
  chainMovements,
  depositOf,
  type Ending,
  figuresOf,
  listed,
  movementsOf,
  netOf,
  type Party,
} from './order-money.ts';
import { atomic, type OrdersDriver } from './orders-driver.ts';

/** An order that is looked at from every side after each step. */
export interface FollowedOrder {
  readonly id: string;
  /** The order has just taken this row: waits for its status, then checks everything. Answers the order as read. */
  took(row: RowName, situation?: Situation): Promise<WireOrder>;
  /** It is in the middle of a row, or where it was with something else changed. */
  is(status: string, situation?: Situation): Promise<WireOrder>;
  /** What moved on chain, and what the books say of it, to the atomic unit. */
  ended(how: Ending): Promise<void>;
  /** The end user's crypto has left the partner's wallet for another network. */
  sentOut(): Promise<void>;
}

/** Every order that the scenarios of a file follow. */
export interface OrderBook {
  follow(direction: Direction, orderId: string, driver?: OrdersDriver): FollowedOrder;
  readonly taken: ReadonlySet<RowName>;
  /** Which pairs of statuses any order of this gateway went through. */
  pairsSeen(direction: Direction): Promise<Set<string>>;
  /** The wallets hold what they held at first, changed by exactly what the followed orders moved. */
  checkWallets(): Promise<void>;
}

const CHAIN = 'base-mainnet';

const eventsOf = statement<[orderId: string], StoredEvent>(
  'test.followed_events',
  'SELECT event_type, body FROM events WHERE subject_id = $1 ORDER BY position',
);
const allOrders = statement<[], { order_id: string; direction: Direction; timeline: { status: string }[] }>(
  'test.all_orders',
  'SELECT order_id, direction, timeline FROM orders',
);

/** What wallets should have gained or lost by what orders moved. */
interface Accounts {
  readonly usdc: Address;
  readonly treasury: Address;
  readonly closed: Set<string>;
  change(wallet: string, amount: bigint): void;
}

export async function openOrderBook(gateway: TestGateway, mainDriver: OrdersDriver): Promise<OrderBook> {
  const { settings } = gateway.deps.chains.get(CHAIN);
  const wallets = [
    settings.treasury,
    ...gateway.partners.map(({ walletAddress }) => walletAddress),
    ...gateway.sandbox.vendors.map(({ walletAddress }) => walletAddress),
  ].map((wallet) => getAddress(wallet));
  const balances = () => Promise.all(wallets.map((wallet) => mainDriver.balance(wallet)));
  const before = await balances();
  const changes = new Map<Address, bigint>();
  const taken = new Set<RowName>();
  const accounts: Accounts = {
    usdc: settings.tokens.find(({ code }) => code === 'USDC')!.address,
    treasury: getAddress(settings.treasury),
    closed: new Set(),
    change: (wallet, amount) =>
      changes.set(getAddress(wallet), (changes.get(getAddress(wallet)) ?? 0n) + amount),
  };
  const readOrders = () => gateway.deps.db.query(SYSTEM, allOrders, []);

  return {
    taken,
    follow: (direction, id, driver = mainDriver) =>
      followOrder(gateway, driver, accounts, taken, direction, id),

    async pairsSeen(direction) {
      const orders = (await readOrders()).filter((order) => order.direction === direction);
      return new Set(
        orders.flatMap(({ timeline }) =>
          timeline.map(({ status }, index) => `${timeline[index - 1]?.status ?? 'new'} → ${status}`),
        ),
      );
    },

    async checkWallets() {
      const orders = await readOrders();
      expect(orders.filter(({ order_id }) => !accounts.closed.has(order_id))).toEqual([]);
      const after = await balances();
      const moved = wallets.map((wallet, index) => [wallet, after[index]! - before[index]!] as const);
      const expected = wallets.map((wallet) => [wallet, changes.get(wallet) ?? 0n] as const);
      expect(Object.fromEntries(moved)).toEqual(Object.fromEntries(expected));
    },
  };
}

function followOrder(
  gateway: TestGateway,
  driver: OrdersDriver,
  accounts: Accounts,
  taken: Set<RowName>,
  direction: Direction,
  id: string,
): FollowedOrder {
  const { deps } = gateway;
  const timeline: string[] = [];
  let stopped: Stop | undefined;
  const at = () => timeline.at(-1) ?? null;

  async function check(situation: Situation): Promise<WireOrder> {
    const order = await driver.read(id);
    expect(order.status).toBe(at());
    checkReading(direction, order, situation);
    checkReasons(direction, order, situation, stopped);
    checkTimeline(order, timeline);
    const events = await deps.db.query(SYSTEM, eventsOf, [id]);
    checkOutbox(order, events, timeline, refundAsked(situation), situation.wasHeld);
    await checkEscrow(order, situation);
    return order;
  }

  /** An order that did not stop never asks; one that failed asks once no hold forbids it to sign. */
  function refundAsked({ refundOwed, held }: Situation) {
    const isStopped = at() === 'cancelled' || at() === 'failed';
    if (direction === 'onramp' || !isStopped) return 'never asked for';
    const isForbidden = held === true && at() === 'failed';
    return refundOwed && !isForbidden ? 'asked for' : 'perhaps asked for';
  }

  /** The books sum to zero at any moment; an escrow and its account agree as soon as nothing is under way. */
  async function checkEscrow(order: WireOrder, situation: Situation): Promise<void> {
    await driver.booksBalance();
    if (order.status === 'crypto_transfer_authorization_pending' || situation.refunding) return;
    const isFull = isEscrowFull(direction, order.status, situation);
    const expected = isFull ? depositOf(direction, figuresOf(order)) : 0n;
    let seen = {};
    const agrees = until('escrow and books agree', async () => {
      const { escrow } = await driver.funds(id);
      const [booked, onChain] = [escrow?.booked_amount ?? '0', escrow?.balance_on_chain ?? '0'].map(atomic);
      seen = { booked, onChain };
      return booked === expected && onChain === expected;
    });
    await agrees.catch(() => expect(seen).toEqual({ booked: expected, onChain: expected }));
  }

  return {
    id,

    async took(name, situation = {}) {
      const { from, through = [], to, stop } = CONTRACT_ROWS[name];
      const path = [from, ...through, to];
      expect(path.slice(0, -1), `${name} begins elsewhere`).toContain(at());
      await driver.reaches(id, to);
      stopped = stop;
      timeline.push(...(path.slice(path.indexOf(at()) + 1) as string[]));
      const order = await check(situation);
      taken.add(name);
      return order;
    },

    async is(status, situation = {}) {
      await driver.reaches(id, status);
      if (status !== at()) timeline.push(status);
      return check(situation);
    },

    async ended(how) {
      const order = await driver.read(id);
      const expected = movementsOf(direction, figuresOf(order), how);
      const { escrow, movements } = await driver.funds(id);
      accounts.closed.add(id);
      expect(bookedNet(movements)).toEqual(netOf(expected));
      if (escrow === null) return expect(how).toBe('untouched');
      const parties = partiesOf(direction, escrow, accounts.treasury);
      expect(parties.partner).toBe(getAddress(driver.wallet));
      const moved = await chainMovements(deps.chains.get(CHAIN).client, accounts.usdc, parties);
      expect(listed(moved)).toEqual(listed(expected));
      // D6.14: the latest transaction that moved value; everything that leaves the escrow leaves in one.
      const [paidIn, paidOut] = [
        moved.filter(({ to }) => to === 'escrow'),
        moved.filter(({ from }) => from === 'escrow'),
      ];
      const latest = new Set((paidOut.length > 0 ? paidOut : paidIn).map(({ txHash }) => txHash));
      expect([...latest]).toEqual(order.tx_hash === null ? [] : [order.tx_hash]);
      for (const party of ['vendor', 'partner', 'treasury'] as const) {
        accounts.change(parties[party], netOf(expected)[party]);
      }
    },

    async sentOut() {
      const { cryptoAmount, platformFee, partnerFee } = figuresOf(await driver.read(id));
      accounts.change(driver.wallet, platformFee + partnerFee - cryptoAmount);
    },
  };
}

function partiesOf(direction: Direction, escrow: WireOrder, treasury: Address): Record<Party, Address> {
  const { seller, buyer } = escrow.owners;
  const [vendor, partner] = direction === 'onramp' ? [seller, buyer] : [buyer, seller];
  return {
    vendor: getAddress(vendor),
    partner: getAddress(partner),
    treasury,
    escrow: getAddress(escrow.address),
  };
}
