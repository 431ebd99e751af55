import type { Funding } from '../session/api.ts';
import { atomicOf } from './decimal-text.ts';

export interface Approve {
  readonly spender: string;
  readonly amount: bigint;
}

/** What `approve(address,uint256)` of a token says; undefined for every other call, and for one with something after it. */
export function decodeApprove(data: string): Approve | undefined {
  const match = /^0x095ea7b30{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(data.toLowerCase());
  const [, spender, amount] = match ?? [];
  if (spender === undefined || amount === undefined) return undefined;
  return { spender: `0x${spender}`, amount: BigInt(`0x${amount}`) };
}

/** What the widget itself knows of the order and its chain. */
export interface Expected {
  readonly wallet: string;
  readonly amount: string;
  readonly chainId: number;
  readonly token: { readonly address: string; readonly decimals: number };
}

const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase();

/** Some tokens take a new permission only once the old one is withdrawn: that is an approve of nothing. */
export function isWithdrawal({ approval }: Pick<Funding, 'approval'>): boolean {
  return approval !== null && decodeApprove(approval.data)?.amount === 0n;
}

/**
 * Whether the permission is exactly what its words say: this wallet lets the router take this amount of this token, or nothing
 * any more. The name of what does not fit, or null: the wallet is asked only then.
 */
export function approvalMismatch(funding: Funding, expected: Expected): string | null {
  const { approval, trust } = funding;
  if (approval === null) return 'approval';
  const decoded = decodeApprove(approval.data);
  const amount = atomicOf(expected.amount, expected.token.decimals);
  const checks: readonly (readonly [name: string, fits: boolean])[] = [
    ['chain', approval.chain_id === expected.chainId && funding.chain_id === expected.chainId],
    ['wallet', same(approval.from, expected.wallet) && same(funding.wallet_address, expected.wallet)],
    ['token', same(approval.to, expected.token.address) && same(funding.token_address, approval.to)],
    ['value', /^(?:0x)?0+$/.test(approval.value)],
    ['data', decoded !== undefined],
    ['router', decoded !== undefined && same(decoded.spender, trust.router)],
    ['amount', amount !== undefined && amount > 0n && [0n, amount].includes(decoded?.amount ?? -1n)],
    ['said', `${decoded?.amount}` === approval.amount_atomic],
  ];
  return checks.find(([, fits]) => !fits)?.[0] ?? null;
}
