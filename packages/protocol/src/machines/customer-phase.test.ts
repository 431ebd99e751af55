import { describe, expect, test } from 'vitest';
import { orderActionsOf } from './caller-actions.ts';
import { customerPhase, expectedSeconds, isOpenForCustomer, type OrderPhase } from './customer-phase.ts';
import { ORDER_MACHINES, type OrderDirection } from './order-actions.ts';
import { INITIAL_ORDER_FACTS, type OrderFacts } from './order-facts.ts';
import type { OrderStatus } from './order-vocabulary.ts';
import { allFacts, ORDER_DOMAINS } from './testing/fact-space.ts';

const { origin: _origin, proofRejections: _rejections, sendOut: _sendOut, ...domains } = ORDER_DOMAINS;
/** Everything that a guard of an action, or the phase itself, looks at. */
const space = allFacts({ ...INITIAL_ORDER_FACTS, origin: 'widget' } as OrderFacts, {
  held: domains.held,
  kycCleared: domains.kycCleared,
  payoutWalletsCleared: domains.payoutWalletsCleared,
  refundWalletCleared: domains.refundWalletCleared,
  fundingSource: domains.fundingSource,
  paymentRequest: domains.paymentRequest,
  payerDetailsSubmitted: domains.payerDetailsSubmitted,
  settlementNotification: domains.settlementNotification,
  escrow: domains.escrow,
  awardedToBuyer: domains.awardedToBuyer,
  transferAuthorization: domains.transferAuthorization,
});

/** Of which the customer has to take one; the other phases ask nothing. */
const ACTIONS: Partial<Record<OrderPhase, readonly string[]>> = {
  pay: ['confirm-payment-sent', 'submit-payer-details'],
  sign: ['authorize-crypto-transfer'],
  confirm: ['confirm-fiat-received'],
  refund: ['authorize-refund'],
  release: ['authorize-release'],
};

const order = (direction: OrderDirection, status: OrderStatus, facts: Partial<OrderFacts> = {}) => ({
  direction,
  status,
  facts: { ...INITIAL_ORDER_FACTS, origin: 'widget' as const, ...facts },
});

describe.each(['onramp', 'offramp'] as const)('%s: what an order asks of its customer', (direction) => {
  const { statusNames, statuses } = ORDER_MACHINES[direction];

  test('every status has a phase whatever the facts are, and one in which the customer acts has its action', () => {
    const wrong = new Set<string>();
    const seen = new Set<OrderPhase>();
    for (const status of statusNames) {
      for (const facts of space) {
        const state = { direction, status, facts };
        const phase = customerPhase(state);
        seen.add(phase);
        const actions = ACTIONS[phase];
        const isBankDeposit = phase === 'pay' && facts.fundingSource === 'own_iban';
        const allowed = orderActionsOf('customer', state);
        if (actions && !isBankDeposit && !actions.some((action) => allowed.includes(action))) {
          wrong.add(`${status}: ${phase} without its action`);
        }
        const isTurn = actions !== undefined;
        if (isTurn && expectedSeconds(state) !== null) wrong.add(`${status}: the customer waits for itself`);
        if ((phase === 'completed') !== (statuses[status]?.outcome === 'settled'))
          wrong.add(`${status}: ${phase}`);
        if (phase === 'refund' && !isOpenForCustomer(state))
          wrong.add(`${status}: a refund is owed and it is over`);
      }
    }
    expect([...wrong]).toEqual([]);
    expect([...seen].sort()).toEqual(
      direction === 'onramp'
        ? ['completed', 'disputed', 'match', 'pay', 'release', 'settle', 'stopped']
        : ['completed', 'confirm', 'disputed', 'match', 'refund', 'settle', 'sign', 'stopped'],
    );
  });

  test('a send-out is never offered to a customer', () => {
    for (const status of statusNames) {
      for (const sendOut of ORDER_DOMAINS.sendOut) {
        const state = order(direction, status, { sendOut, escrow: 'emptied' });
        expect(orderActionsOf('customer', state)).not.toContain('authorize-bridge');
      }
    }
  });
});

test('the phases of a trade, one after the other', () => {
  const phases = (
    direction: OrderDirection,
    steps: readonly (readonly [OrderStatus, Partial<OrderFacts>?])[],
  ) => steps.map(([status, facts]) => customerPhase(order(direction, status, facts)));
  const funded = { escrow: 'funded' } as const;
  expect(
    phases('onramp', [
      ['awaiting_liquidity_provider'],
      ['awaiting_vendor_escrow_funding'],
      ['awaiting_fiat_transfer', funded],
      ['awaiting_fiat_transfer', { ...funded, fundingSource: 'own_iban' }],
      ['fiat_transfer_pending', funded],
      ['crypto_release_pending', { escrow: 'releasing' }],
      ['completed', { escrow: 'emptied' }],
    ]),
  ).toEqual(['match', 'match', 'pay', 'pay', 'settle', 'settle', 'completed']);
  expect(
    phases('offramp', [
      ['awaiting_liquidity_provider'],
      ['awaiting_crypto_transfer_authorization'],
      ['crypto_transfer_authorization_pending', { transferAuthorization: 'live' }],
      ['crypto_received', funded],
      ['awaiting_fiat_received_confirmation', funded],
      ['awaiting_fiat_received_confirmation', { ...funded, settlementNotification: true }],
      ['cancelled', funded],
      ['cancelled', { escrow: 'refunding' }],
      ['cancelled', { escrow: 'emptied' }],
      ['dispute_started', funded],
    ]),
  ).toEqual([
    ...['match', 'sign', 'settle', 'settle', 'confirm', 'settle'],
    ...['refund', 'stopped', 'stopped', 'disputed'],
  ]);
  expect(customerPhase(order('onramp', 'dispute_started', { ...funded, awardedToBuyer: true }))).toBe(
    'release',
  );
  expect(isOpenForCustomer(order('offramp', 'cancelled', { escrow: 'refunding' }))).toBe(true);
  expect(isOpenForCustomer(order('offramp', 'cancelled', { escrow: 'emptied' }))).toBe(false);
});

test('how long a phase takes, where others are at work; nothing is promised to a customer whose turn it is', () => {
  const seconds = (direction: OrderDirection, status: OrderStatus, facts: Partial<OrderFacts> = {}) =>
    expectedSeconds(order(direction, status, facts));
  expect(seconds('onramp', 'awaiting_liquidity_provider')).toBe(120);
  expect(seconds('onramp', 'fiat_transfer_pending', { escrow: 'funded' })).toBe(1_800);
  expect(seconds('onramp', 'crypto_release_pending', { escrow: 'releasing' })).toBe(60);
  expect(seconds('offramp', 'crypto_transfer_authorization_pending', { transferAuthorization: 'live' })).toBe(
    60,
  );
  expect(seconds('offramp', 'dispute_started', { escrow: 'funded' })).toBe(172_800);
  expect(seconds('offramp', 'cancelled', { escrow: 'refunding' })).toBe(60);
  expect(seconds('onramp', 'cancelled', { escrow: 'refunding' })).toBeNull();
  expect(seconds('offramp', 'cancelled', { escrow: 'emptied' })).toBeNull();
  expect(seconds('onramp', 'completed', { escrow: 'emptied' })).toBeNull();
  expect(seconds('onramp', 'awaiting_fiat_transfer', { escrow: 'funded' })).toBeNull();
});

test('an order is open until it has ended and owes its customer nothing', () => {
  const isOpen = (direction: OrderDirection, status: OrderStatus, facts: Partial<OrderFacts> = {}) =>
    isOpenForCustomer(order(direction, status, facts));
  expect(isOpen('onramp', 'awaiting_liquidity_provider')).toBe(true);
  expect(isOpen('onramp', 'completed', { escrow: 'emptied' })).toBe(false);
  expect(isOpen('onramp', 'dispute_started', { escrow: 'funded' })).toBe(true);
  expect(isOpen('onramp', 'cancelled', { escrow: 'funded' })).toBe(false);
  expect(isOpen('offramp', 'cancelled', { escrow: 'funded' })).toBe(true);
});

test('an order waits for a vendor until one has taken it and locked its crypto', () => {
  expect(customerPhase(order('offramp', 'created'))).toBe('match');
  expect(customerPhase(order('onramp', 'awaiting_liquidity_provider'))).toBe('match');
  expect(customerPhase(order('onramp', 'awaiting_vendor_escrow_funding'))).toBe('match');
});

test('a deposit of a held order is not asked for', () => {
  const paid = { escrow: 'funded', fundingSource: 'own_iban' } as const;
  expect(customerPhase(order('onramp', 'awaiting_fiat_transfer', { ...paid, held: true }))).toBe('settle');
});
