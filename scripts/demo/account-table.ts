import type { Causeway } from '@causeway/sdk';
import type { Played } from './acts.ts';
import { type Chain, formatAmount, movedBy, parseAmount, type Transfer } from './chain.ts';

/** What moved, by the chains' own logs, held against balances and against the service's books. */
export interface Ledger {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly checks: readonly { readonly isGood: boolean; readonly text: string }[];
}

export interface Watched {
  readonly chain: Chain;
  readonly fromBlock: number;
}

export interface Parties {
  readonly partner: string;
  readonly treasury: string;
  readonly solver: string;
  readonly destination: string;
}

interface Account {
  readonly label: string;
  readonly address: string;
  readonly on: 'settlement' | 'other';
}

const ACTS = ['on-ramp', 'send-out', 'off-ramp', 'refund'] as const;
type Act = (typeof ACTS)[number];

interface Played3 {
  readonly onramp: Played;
  readonly offramp: Played;
  readonly refund: Played;
}

function touches(address: string): (transfer: Transfer) => boolean {
  const wanted = address.toLowerCase();
  return ({ from, to }) => from === wanted || to === wanted;
}

/** Every transfer of the demo's own orders, by act; all others are somebody else's. */
function ownTransfers(
  logs: Readonly<Record<Account['on'], readonly Transfer[]>>,
  { onramp, offramp, refund }: Played3,
  { partner, solver, destination }: Parties,
): Record<Account['on'], Record<Act, Transfer[]>> {
  const toBridge = logs.settlement.find(
    ({ from, to, amount }) =>
      from === partner.toLowerCase() && to === solver.toLowerCase() && amount === onramp.sentOut,
  );
  return {
    settlement: {
      'on-ramp': logs.settlement.filter(touches(onramp.escrow)),
      'send-out': toBridge === undefined ? [] : [toBridge],
      'off-ramp': logs.settlement.filter(touches(offramp.escrow)),
      refund: logs.settlement.filter(touches(refund.escrow)),
    },
    other: {
      ...{ 'on-ramp': [], 'off-ramp': [], refund: [] },
      'send-out': logs.other.filter(touches(destination)),
    },
  };
}

export async function balanceTheBooks(
  causeway: Causeway,
  watched: Readonly<Record<Account['on'], Watched>>,
  played: Played3,
  parties: Parties,
  decimals: number,
): Promise<Ledger> {
  const { settlement, other } = watched;
  const until = { settlement: await settlement.chain.block(), other: await other.chain.block() };
  const logs = {
    settlement: await settlement.chain.transfers(settlement.fromBlock + 1, until.settlement),
    other: await other.chain.transfers(other.fromBlock + 1, until.other),
  };
  const own = ownTransfers(logs, played, parties);
  const accounts = accountsOf(played, parties, settlement.chain.name, other.chain.name);
  const checks: { isGood: boolean; text: string }[] = [];
  const show = (value: bigint | undefined) =>
    value === undefined ? '' : formatAmount(value, decimals, true);

  const lines = await Promise.all(
    accounts.map(async ({ label, address, on }) => {
      const { chain, fromBlock } = watched[on];
      const before = await chain.balance(address, fromBlock);
      const after = await chain.balance(address, until[on]);
      // Undefined where the account had no part in it; an escrow that was paid and emptied has moved zero.
      const moved = ACTS.map((act) => {
        const touching = own[on][act].filter(touches(address));
        return touching.length === 0 ? undefined : movedBy(touching, address);
      });
      const mine = moved.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n);
      const others = movedBy(logs[on], address) - mine;
      return { label, before, after, moved, others, isExact: after - before === mine + others };
    }),
  );

  const hasOthers = lines.some(({ others }) => others !== 0n);
  checks.push({
    isGood: lines.every(({ isExact }) => isExact),
    text: 'every balance after is the balance before and what moved, to the last unit',
  });
  const sums = ACTS.map((_, index) =>
    lines.reduce<bigint>((sum, { moved }) => sum + (moved[index] ?? 0n), 0n),
  );
  checks.push({
    isGood: sums.every((sum) => sum === 0n) && own.settlement['send-out'].length === 1,
    text: 'every act sums to zero: nothing was made, nothing was lost',
  });
  const booked = await bookedBy(causeway, played, decimals);
  const chainSays = rolesOnChain(own.settlement, played, parties);
  const differing = Object.keys(chainSays).filter((role) => booked.get(role) !== chainSays[role]);
  checks.push({
    isGood: differing.length === 0,
    text:
      differing.length === 0
        ? 'the service’s books (GET /partner/orders/{order_id}/funds) say the same of every account'
        : `the books differ from the chain for: ${differing.join(', ')}`,
  });
  return {
    columns: ['USDC', 'before', ...ACTS, ...(hasOthers ? ['other orders'] : []), 'after'],
    rows: lines.map(({ label, before, after, moved, others }) => [
      ...[label, formatAmount(before, decimals)],
      ...moved.map(show),
      ...(hasOthers ? [show(others === 0n ? undefined : others)] : []),
      formatAmount(after, decimals),
    ]),
    checks,
  };
}

function accountsOf(
  { onramp, offramp, refund }: Played3,
  { partner, treasury, solver, destination }: Parties,
  here: string,
  there: string,
): Account[] {
  const vendors = [...new Set([onramp.vendor, offramp.vendor])];
  const account = (label: string, address: string, on: Account['on'] = 'settlement'): Account => ({
    ...{ address, on },
    label: `${label}, ${on === 'settlement' ? here : there}`,
  });
  return [
    account('partner wallet', partner),
    account('escrow of the on-ramp', onramp.escrow),
    account('escrow of the off-ramp', offramp.escrow),
    account('escrow of the refund', refund.escrow),
    ...vendors.map((address, index) =>
      account(vendors.length > 1 ? `vendor ${index + 1}` : 'vendor', address),
    ),
    account('treasury', treasury),
    account('bridge', solver),
    account('bridge', solver, 'other'),
    account('destination', destination, 'other'),
  ];
}

/** Sums of the books over the three orders, by who holds the account. */
async function bookedBy(causeway: Causeway, played: Played3, decimals: number): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>();
  for (const { orderId } of Object.values(played)) {
    const { movements } = await causeway.orders.funds(orderId);
    for (const { account, asset, amount } of movements.flatMap(({ postings }) => postings)) {
      if (!asset.startsWith('USDC@')) continue;
      const role = account.replace(/^outside:/, '').split(':')[0] ?? '';
      sums.set(role, (sums.get(role) ?? 0n) + parseAmount(amount, decimals));
    }
  }
  return sums;
}

function rolesOnChain(
  own: Readonly<Record<Act, readonly Transfer[]>>,
  { onramp, offramp, refund }: Played3,
  { partner, treasury, solver }: Parties,
): Record<string, bigint> {
  const transfers = Object.values(own).flat();
  const total = (...addresses: readonly string[]) =>
    [...new Set(addresses)].reduce((sum, address) => sum + movedBy(transfers, address), 0n);
  return {
    partner: total(partner),
    vendor: total(onramp.vendor, offramp.vendor, refund.vendor),
    escrow: total(onramp.escrow, offramp.escrow, refund.escrow),
    treasury: total(treasury),
    bridge: total(solver),
  };
}
