import { parseAbi } from 'viem';
import { expect } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { reconcileAll } from '../../apps/gateway/src/features/reconciliation/reconcile.ts';
import { atomic } from '../scenarios/orders-driver.ts';
import { CHAIN, type Fixture } from './fixture.ts';
import type { History } from './history.ts';

const bookedOf = statement<[orderId: string], { asset: string; inside: string; all: string }>(
  'test.booked_of_order',
  `SELECT p.asset, sum(p.amount)::text AS all,
          coalesce(sum(p.amount) FILTER (WHERE p.account IN ('escrow:' || $1, 'held:' || $1)), 0)::text AS inside
     FROM ledger_entries l JOIN ledger_postings p USING (entry_id) WHERE l.order_id = $1::uuid GROUP BY p.asset`,
);
const movedOf = statement<[orderId: string], { account: string; asset: string; amount: string }>(
  'test.moved_of_order',
  `SELECT p.account, p.asset, sum(p.amount)::text AS amount
     FROM ledger_entries l JOIN ledger_postings p USING (entry_id) WHERE l.order_id = $1 GROUP BY 1, 2`,
);
const unbalanced = statement<[], { entry_id: string }>(
  'test.unbalanced_entries',
  'SELECT entry_id FROM ledger_postings GROUP BY entry_id, asset HAVING sum(amount) <> 0',
);
const escrows = statement<[], { total: string }>(
  'test.escrows_of_histories',
  'SELECT count(*)::text AS total FROM orders WHERE escrow IS NOT NULL',
);

/** What the books, the chain and /funds say of one order's escrow, token by token, in atomic units. */
export async function figuresOf({ gateway, tokens }: Fixture, { orderId, lane }: History) {
  const funds = await lane.driver.funds(orderId);
  const booked = await gateway.deps.db.query(SYSTEM, bookedOf, [orderId]);
  const { client } = gateway.deps.chains.get(CHAIN);
  const { escrow } = funds;
  return Promise.all(
    tokens.map(async ({ code, address }) => {
      const found = booked.find(({ asset }) => asset === `${code}@${CHAIN}`);
      const shown = escrow?.balances.find((one: { token: string | null }) => one.token === code);
      const isOwn = escrow !== null && code === funds.crypto_currency;
      return {
        token: code,
        postings: BigInt(found?.all ?? 0),
        books: BigInt(found?.inside ?? 0),
        chain: escrow === null ? 0n : await tokenBalance(client, address, escrow.address),
        funds: BigInt(shown?.amount_atomic ?? 0),
        fundsBooked: isOwn ? atomic(escrow.booked_amount) + atomic(escrow.held_amount) : undefined,
        fundsOnChain: isOwn ? atomic(escrow.balance_on_chain) : undefined,
      };
    }),
  );
}

const [TRANSFER] = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);

/** Adds up by whose and of what it is, and leaves out what comes to nothing. */
function added(moves: readonly (readonly [wallet: string, token: string, amount: bigint])[]) {
  const sums = new Map<string, bigint>();
  for (const [wallet, token, amount] of moves) {
    const key = `${wallet.toLowerCase()} ${token}`;
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n));
}

/** What everybody has gained or lost by the order: by the books, and by what really went in and out of its escrow. */
async function gains({ gateway, tokens }: Fixture, { orderId, lane, plan }: History) {
  const { escrow } = await lane.driver.funds(orderId);
  if (escrow === null) return { booked: {}, moved: {} };
  const { client, settings } = gateway.deps.chains.get(CHAIN);
  const { seller, buyer } = escrow.owners;
  const vendor = plan.direction === 'onramp' ? seller : buyer;
  const walletOf = (account: string): string => {
    const [place, party, id] = account.split(':');
    if (place === 'treasury') return settings.treasury;
    if (party === 'payer') return id!;
    if (place === 'outside') return party === 'vendor' ? vendor : lane.driver.wallet;
    return escrow.address;
  };
  const address = tokens.map((token) => token.address);
  const asked = { address, event: TRANSFER, fromBlock: 0n, strict: true } as const;
  const [into, out, rows] = await Promise.all([
    client.getLogs({ ...asked, args: { to: escrow.address } }),
    client.getLogs({ ...asked, args: { from: escrow.address } }),
    gateway.deps.db.query(SYSTEM, movedOf, [orderId]),
  ]);
  const codeOf = (token: string) =>
    `${tokens.find((one) => one.address.toLowerCase() === token.toLowerCase())!.code}@${CHAIN}`;
  return {
    booked: added(rows.map(({ account, asset, amount }) => [walletOf(account), asset, BigInt(amount)])),
    moved: added([
      ...into.map(({ address: token, args }) => [args.from, codeOf(token), -args.value] as const),
      ...out.map(({ address: token, args }) => [args.to, codeOf(token), args.value] as const),
    ]),
  };
}

/** Books = chain = /funds; and because everything was settled, nothing is left in the escrow. */
export async function agrees(fixture: Fixture, history: History): Promise<void> {
  for (const figures of await figuresOf(fixture, history)) {
    const { token, fundsBooked } = figures;
    const isOwn = fundsBooked !== undefined;
    expect(figures).toEqual({
      token,
      postings: 0n,
      books: 0n,
      chain: 0n,
      funds: 0n,
      fundsBooked: isOwn ? 0n : undefined,
      fundsOnChain: isOwn ? 0n : undefined,
    });
  }
  const { booked, moved } = await gains(fixture, history);
  expect(booked).toEqual(moved);
}

/** The operator's own comparison of all escrows finds nothing, nor does the worker's of all records; no entry is one-sided. */
export async function reconciles({ gateway, operate }: Fixture): Promise<void> {
  expect(await gateway.deps.db.query(SYSTEM, unbalanced, [])).toEqual([]);
  const [count] = await gateway.deps.db.query(SYSTEM, escrows, []);
  let checked = 0;
  let cursor = '';
  for (;;) {
    const { data } = (await operate('GET', `reconciliation?scope=all&limit=500${cursor}`)).body;
    const { books, escrows: page, next_cursor: next } = data;
    expect(books.filter(({ balanced }: { balanced: boolean }) => !balanced)).toEqual([]);
    const { different, in_flight, unreachable } = page;
    expect({ different, in_flight, unreachable }).toEqual({
      different: [],
      in_flight: [],
      unreachable: [],
    });
    checked += page.checked;
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  expect(checked).toBe(Number(count?.total));
  await reconcileAll(gateway.deps);
  const { differences } = (await operate('GET', 'reconciliation?limit=1')).body.data;
  expect(differences).toEqual([]);
}
