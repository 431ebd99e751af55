import { ORDER_PHASES } from '@causeway/protocol';
import { SigningRefusedError } from '@causeway/sdk/signing';
import { describe, expect, it } from 'vitest';
import { cryptoText } from '../order/amounts.ts';
import { trustOf } from '../order/signing.ts';
import type { Funding, Order, Session } from '../session/api.ts';
import { PHASES } from './order.tsx';
import { owedAfterStop } from './order-phases.tsx';

it('every phase has a page', () => {
  expect(Object.keys(PHASES).toSorted()).toEqual([...ORDER_PHASES].toSorted());
});

it('crypto is written without zeros that say nothing, and never rounded', () => {
  expect(
    ['134.390000', '100.000000', '1.234500', '0.000001', '5', '5.1'].map((amount) =>
      cryptoText(amount, 'USDC').replace('\u00a0', ' '),
    ),
  ).toEqual(['134.39 USDC', '100.00 USDC', '1.2345 USDC', '0.000001 USDC', '5 USDC', '5.1 USDC']);
});

describe('what is owed after a stop', () => {
  const stopped = (part: Partial<Order>) =>
    owedAfterStop({
      ...{ side: 'onramp', refund_tx_hash: null, expected_seconds: null, hold: null },
      ...{ payment_instructions: null, payment_request: false },
      ...part,
    } as Order);

  it('is said without guessing', () => {
    const hold = { reason: 'COMPLIANCE_REVIEW', since: '' } as const;
    expect(stopped({})).toBe('no_money');
    expect(stopped({ payment_instructions: [] })).toBe('paid_already');
    expect(stopped({ payment_request: true })).toBe('paid_already');
    expect(stopped({ side: 'offramp' })).toBe('no_crypto');
    expect(stopped({ side: 'offramp', hold })).toBe('held');
    expect(stopped({ side: 'offramp', expected_seconds: 60 })).toBe('refunding');
    expect(stopped({ side: 'offramp', refund_tx_hash: '0x1' })).toBe('refunded');
  });
});

describe('what a signature is held against', () => {
  const session = {
    chain: {
      ...{ slug: 'base-mainnet', chain_id: 31337 },
      tokens: [{ code: 'USDC', address: '0xt', decimals: 6 }],
    },
  } as unknown as Session;
  const funding = {
    trust: {
      ...{ service: '0xs', treasury: '0xf', partner: null, router: '0xr', forwarder: '0xw' },
      contracts: { safeSingleton: '0x1', router: '0xother' },
    },
  } as unknown as Funding;

  it('is the wallet of the order on the chain of the session', () => {
    const trust = trustOf({ wallet_address: '0xme', chain: 'base-mainnet' }, session, funding);
    expect(trust).toMatchObject({ chainId: 31337, wallet: '0xme', service: '0xs' });
    expect(trust.contracts).toMatchObject({ router: '0xr', forwarder: '0xw', safeSingleton: '0x1' });
    expect(trust.tokens).toEqual({ USDC: { address: '0xt', decimals: 6 } });
    expect('partner' in trust).toBe(false);
  });

  it('is nothing where the order is on another chain', () => {
    const elsewhere = { wallet_address: '0xme', chain: 'arbitrum-one' };
    expect(() => trustOf(elsewhere, session, funding)).toThrow(SigningRefusedError);
  });
});
