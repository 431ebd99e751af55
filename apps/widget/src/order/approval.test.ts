import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem';
import { describe, expect, it } from 'vitest';
import type { Funding } from '../session/api.ts';
import { approvalMismatch, decodeApprove, isWithdrawal } from './approval.ts';

const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ROUTER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const AMOUNT = 134_390_000n;

const approve = (spender: `0x${string}`, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });

type Approval = NonNullable<Funding['approval']>;

const expected = {
  wallet: WALLET.toLowerCase(),
  amount: '134.390000',
  chainId: 84532,
  token: { address: TOKEN.toLowerCase(), decimals: 6 },
};

function mismatch(change: Partial<Approval> = {}, more: Partial<Funding> = {}): string | null {
  const approval: Approval = {
    ...{ chain_id: 84532, from: WALLET, to: TOKEN, data: approve(ROUTER, AMOUNT), value: '0' },
    amount_atomic: `${AMOUNT}`,
    ...change,
  };
  const funding = {
    ...{ approval, wallet_address: WALLET, chain_id: 84532, token_address: TOKEN },
    trust: { router: ROUTER },
    ...more,
  } as unknown as Funding;
  return approvalMismatch(funding, expected);
}

describe('an approve', () => {
  it('is decoded as any library encodes it', () => {
    expect(decodeApprove(approve(ROUTER, AMOUNT))).toEqual({ spender: ROUTER.toLowerCase(), amount: AMOUNT });
    expect(decodeApprove(approve(ROUTER, maxUint256))?.amount).toBe(maxUint256);
  });

  it('is nothing else: no other call, nothing after it, no dirty address, nothing cut off', () => {
    const good = approve(ROUTER, AMOUNT);
    const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [ROUTER, AMOUNT] });
    const dirty = `${good.slice(0, 10)}1${good.slice(11)}`;
    for (const data of [transfer, `${good}00`, good.slice(0, -2), dirty, '0x', '', '0x095ea7b3']) {
      expect(decodeApprove(data)).toBeUndefined();
    }
  });

  it('reaches the wallet only where it lets the router take exactly the amount of the order', () => {
    expect(mismatch()).toBeNull();
    expect(mismatch({ value: '0x0' })).toBeNull();
    expect(mismatch({ data: approve(OTHER, AMOUNT) })).toBe('router');
    expect(mismatch({ data: approve(ROUTER, AMOUNT + 1n) })).toBe('amount');
    expect(mismatch({ data: approve(ROUTER, maxUint256), amount_atomic: `${maxUint256}` })).toBe('amount');
    expect(mismatch({ data: approve(ROUTER, AMOUNT), amount_atomic: '0' })).toBe('said');
    expect(mismatch({ to: OTHER })).toBe('token');
    expect(mismatch({ to: OTHER }, { token_address: OTHER })).toBe('token');
    expect(mismatch({ from: OTHER })).toBe('wallet');
    expect(mismatch({ chain_id: 1 })).toBe('chain');
    expect(mismatch({ value: '1' })).toBe('value');
    expect(mismatch({ data: '0xa9059cbb' })).toBe('data');
  });

  it('of nothing withdraws an earlier one', () => {
    const data = approve(ROUTER, 0n);
    expect(mismatch({ data, amount_atomic: '0' })).toBeNull();
    expect(isWithdrawal({ approval: { data } as Approval })).toBe(true);
    expect(isWithdrawal({ approval: { data: approve(ROUTER, AMOUNT) } as Approval })).toBe(false);
  });
});
