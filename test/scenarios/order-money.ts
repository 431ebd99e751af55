import { type Address, erc20Abi, getAddress } from 'viem';
import type { ChainClient } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import type { WireOrder } from './check-order.ts';
import type { Direction } from './order-contract.ts';
import { atomic } from './orders-driver.ts';

/** How an order's crypto ended: never paid in, still in escrow, paid out as agreed, or back with who paid it in. */
export type Ending = 'untouched' | 'locked' | 'released' | 'returned';

const PARTIES = ['vendor', 'partner', 'treasury', 'escrow'] as const;
export type Party = (typeof PARTIES)[number];

export interface Movement {
  readonly from: Party;
  readonly to: Party;
  readonly amount: bigint;
}

export interface Figures {
  readonly cryptoAmount: bigint;
  readonly platformFee: bigint;
  readonly partnerFee: bigint;
}

export function figuresOf(order: WireOrder): Figures {
  return {
    cryptoAmount: atomic(order.amounts.crypto_amount),
    platformFee: atomic(order.fee_breakdown.platform_fee),
    partnerFee: atomic(order.fee_breakdown.partner_fee),
  };
}

export function depositOf(direction: Direction, { cryptoAmount, partnerFee }: Figures): bigint {
  return direction === 'onramp' ? cryptoAmount : cryptoAmount + partnerFee;
}

/** D1.3: the same figures move on chain. */
export function movementsOf(direction: Direction, figures: Figures, how: Ending): Movement[] {
  const { cryptoAmount, platformFee, partnerFee } = figures;
  const [seller, buyer] =
    direction === 'onramp' ? (['vendor', 'partner'] as const) : (['partner', 'vendor'] as const);
  const deposit = depositOf(direction, figures);
  const paidIn: Movement = { from: seller, to: 'escrow', amount: deposit };
  if (how === 'untouched') return [];
  if (how === 'locked') return [paidIn];
  if (how === 'returned') return [paidIn, { from: 'escrow', to: seller, amount: deposit }];
  const markup = direction === 'offramp' ? partnerFee : 0n;
  const paidOut: Movement[] = [
    { from: 'escrow', to: buyer, amount: cryptoAmount - platformFee },
    { from: 'escrow', to: 'treasury', amount: platformFee },
    { from: 'escrow', to: 'partner', amount: markup },
  ];
  return [paidIn, ...paidOut.filter(({ amount }) => amount > 0n)];
}

/** For comparing: in which order transfers are read is no matter. */
export function listed(movements: readonly Movement[]): string[] {
  return movements.map(({ from, to, amount }) => `${from} to ${to}: ${amount}`).sort();
}

export function netOf(movements: readonly Movement[]): Record<Party, bigint> {
  const net = nothing();
  for (const { from, to, amount } of movements) {
    net[from] -= amount;
    net[to] += amount;
  }
  return net;
}

/** Fiat from the customer's own account and the send-out are no business of the escrow. */
const BESIDE_THE_ESCROW: readonly string[] = [
  'customer_deposit_applied',
  'customer_deposit_returned',
  'send_out_settled',
];

/** What the books say of an order's crypto, party by party. */
export function bookedNet(movements: WireOrder): Record<Party, bigint> {
  const net = nothing();
  for (const { kind, postings } of movements) {
    if (BESIDE_THE_ESCROW.includes(kind)) continue;
    for (const { account, amount } of postings) net[partyOf(account)] += atomic(amount);
  }
  return net;
}

function nothing(): Record<Party, bigint> {
  return { vendor: 0n, partner: 0n, treasury: 0n, escrow: 0n };
}

/** A sandbox's widget orders have the partner's own wallet as the customer's; `widget-orders.test.ts` tells the two apart. */
function partyOf(account: string): Party {
  const owner = account.replace(/^outside:/, '').replace(/^customer:/, 'partner:');
  const party = PARTIES.find((name) => owner.startsWith(`${name}:`));
  if (party === undefined) throw new Error(`no party of an order has the account ${account}`);
  return party;
}

/** Token transfers into and out of an escrow, by who is who in it. */
export async function chainMovements(
  client: ChainClient,
  token: Address,
  parties: Readonly<Record<Party, Address>>,
): Promise<(Movement & { readonly txHash: string })[]> {
  const nameOf = (address: Address): Party => {
    const party = PARTIES.find((name) => parties[name] === getAddress(address));
    if (party === undefined) throw new Error(`${address} is no party of the order`);
    return party;
  };
  const asked = {
    abi: erc20Abi,
    address: token,
    eventName: 'Transfer',
    fromBlock: 0n,
    strict: true,
  } as const;
  const logs = await Promise.all([
    client.getContractEvents({ ...asked, args: { from: parties.escrow } }),
    client.getContractEvents({ ...asked, args: { to: parties.escrow } }),
  ]);
  return logs.flat().map(({ args: { from, to, value }, transactionHash: txHash }) => ({
    from: nameOf(from),
    to: nameOf(to),
    amount: value,
    txHash,
  }));
}
