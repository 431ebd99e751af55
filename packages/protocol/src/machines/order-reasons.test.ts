import { describe, expect, test } from 'vitest';
import { FAILURE_CODES, HOLD_REASON_CODES, HOLD_REASONS, ORDER_FAILURES } from '../failures/index.ts';
import { type Actor, ORDER_MACHINES, type OrderDirection, type OrderTrigger, sourcesOf } from './index.ts';
import type { OrderRule } from './order-facts.ts';
import { NO_REASONS, reasonsAfter } from './order-reasons.ts';
import { OrderWalk } from './testing/order-walk.ts';

const ROWS = (Object.keys(ORDER_MACHINES) as OrderDirection[]).flatMap((direction) =>
  ORDER_MACHINES[direction].transitions.map((row) => ({ direction, row })),
);
const STOPPED = ['cancelled', 'failed'];

/** On-ramp, with the vendor's crypto in escrow. */
const locked = () =>
  new OrderWalk('onramp', { fundingSource: 'own_iban' })
    .report('order_initiated', 'partner')
    .report('vendor_accepted', 'vendor')
    .report('escrow_funded', 'chain');

describe('why an order stopped', () => {
  test('every row that stops an order names a failure, and no other row does', () => {
    for (const { direction, row } of ROWS) {
      const stops = STOPPED.includes(row.to) && sourcesOf(row).some((from) => from !== row.to);
      expect(row.failure !== undefined, `${direction} ${sourcesOf(row)} ${row.on}`).toBe(stops);
    }
  });

  test('every failure of the catalogue belongs to a row', () => {
    expect(new Set(ROWS.flatMap(({ row }) => row.failure ?? []))).toEqual(new Set(FAILURE_CODES));
  });

  test('a row that stops an order without saying why does not compile', () => {
    const row = {
      from: 'awaiting_fiat_transfer',
      on: 'escrow_failed',
      by: ['chain'],
      emits: [],
      spec: '',
    } as const;
    // @ts-expect-error no failure
    const silent: OrderRule<'awaiting_fiat_transfer' | 'failed'> = { ...row, to: 'failed' };
    const told: OrderRule<'awaiting_fiat_transfer' | 'failed'> = {
      ...row,
      to: 'failed',
      failure: 'ESCROW_ERROR',
    };
    // @ts-expect-error a failure of an order that goes on
    const odd: OrderRule<'awaiting_fiat_transfer'> = { ...row, to: row.from, failure: 'ESCROW_ERROR' };
    // @ts-expect-error a hold without a reason
    const held: OrderRule<'awaiting_fiat_transfer'> = { ...row, to: row.from, sets: { held: true } };
    expect([silent, told, odd, held]).toHaveLength(4);
  });

  test.each<[string, OrderDirection, [OrderTrigger, Actor][], string]>([
    ['partner', 'onramp', [['cancelled_by_partner', 'partner']], 'CANCELLED_ON_REQUEST'],
    ['system', 'onramp', [['order_expired', 'clock']], 'NO_VENDOR_ACCEPTED'],
    ['system', 'offramp', [['order_expired', 'clock']], 'TRANSFER_NOT_AUTHORIZED'],
  ])('cancelled by the %s: %s', (cancelledBy, direction, steps, failure) => {
    const order = new OrderWalk(direction).report('order_initiated', 'partner');
    for (const [trigger, actor] of steps) order.report(trigger, actor);
    expect(order.reasons).toMatchObject({ failure, cancelledBy });
  });

  test.each<[Actor, string]>([
    ...(['partner', 'customer', 'vendor', 'operator', 'system'] as const).map(
      (name) => [name, name] as [Actor, string],
    ),
    ['provider', 'vendor'],
    ...(['bank', 'chain', 'clock', 'simulator'] as const).map((name) => [name, 'system'] as [Actor, string]),
  ])('what %s reports is cancelled by the %s', (actor, cancelledBy) => {
    const row = ROWS.find((one) => one.row.to === 'cancelled')?.row;
    if (row === undefined) throw new Error('no row cancels');
    const free = { held: false, heldForDeposit: false };
    expect(reasonsAfter(row, actor, NO_REASONS, free, free).cancelledBy).toBe(cancelledBy);
    expect(NO_REASONS).toEqual({ failure: null, cancelledBy: null, hold: null });
  });

  test('a widget order is cancelled by its customer', () => {
    const order = new OrderWalk('onramp', { origin: 'widget' }).report('order_initiated', 'customer');
    order.report('cancelled_by_partner', 'customer');
    expect(order.reasons.cancelledBy).toBe('customer');
  });

  test('what happens to a stopped order later does not change why it stopped', () => {
    const cancelled = locked().report('cancelled_by_partner', 'partner').report('refund_confirmed', 'chain');
    expect(cancelled.reasons).toMatchObject({ failure: 'CANCELLED_ON_REQUEST', cancelledBy: 'partner' });
    const order = locked().report('escrow_failed', 'system').report('refund_failed', 'chain');
    expect(order.reasons).toEqual({ failure: 'ESCROW_ERROR', cancelledBy: null, hold: 'SETTLEMENT_REVIEW' });
    order.report('hold_released', 'operator').report('refund_confirmed', 'chain');
    expect(order.reasons).toEqual({ failure: 'ESCROW_ERROR', cancelledBy: null, hold: null });
  });
});

describe('why an order is held', () => {
  test('every row that sets a hold names a reason, and no other row does', () => {
    for (const { direction, row } of ROWS) {
      expect(row.hold !== undefined, `${direction} ${sourcesOf(row)} ${row.on}`).toBe(
        row.sets?.held === true,
      );
    }
    expect(new Set(ROWS.flatMap(({ row }) => row.hold ?? []))).toEqual(new Set(HOLD_REASON_CODES));
  });

  test('an operator, a screening and a wallet have one name; KYC, bank and chain have theirs', () => {
    const reasonOf = (order: OrderWalk, trigger: OrderTrigger, actor: Actor) =>
      order.report(trigger, actor).reasons.hold;
    expect(reasonOf(locked(), 'hold_placed', 'operator')).toBe('COMPLIANCE_REVIEW');
    expect(reasonOf(locked().know({ payeeCleared: false }), 'screening_lost', 'system')).toBe(
      'COMPLIANCE_REVIEW',
    );
    const wallet = locked().know({ payoutWalletsCleared: false, kycCleared: false });
    expect(reasonOf(wallet, 'hold_placed', 'system')).toBe('COMPLIANCE_REVIEW');
    expect(reasonOf(locked().know({ kycCleared: false }), 'hold_placed', 'system')).toBe('KYC_REVIEW');
    expect(reasonOf(locked(), 'hold_placed', 'bank')).toBe('FIAT_TRANSFER_REVIEW');
    expect(reasonOf(locked(), 'hold_placed', 'system')).toBe('SETTLEMENT_REVIEW');
    expect(reasonOf(locked(), 'deposit_held', 'bank')).toBe('DEPOSIT_REVIEW');
  });

  test('a hold keeps its reason, but for one for a deposit', () => {
    const order = locked().report('hold_placed', 'operator').know({ kycCleared: false });
    order.attempt('hold_placed', 'system');
    order.report('escrow_failed', 'system');
    expect(order.reasons.hold).toBe('COMPLIANCE_REVIEW');
    const holds = ROWS.find(({ row }) => row.hold === 'COMPLIANCE_REVIEW')?.row;
    if (holds === undefined) throw new Error('no row holds');
    const held = { held: true, heldForDeposit: false };
    const before = { ...NO_REASONS, hold: 'KYC_REVIEW' } as const;
    expect(reasonsAfter(holds, 'system', before, held, held).hold).toBe('KYC_REVIEW');
    const deposit = locked().report('deposit_held', 'bank').know({ kycCleared: false });
    expect(deposit.report('hold_placed', 'system').reasons.hold).toBe('KYC_REVIEW');
  });
});

test('the catalogues are plain sentences that name no party by more than its role', () => {
  for (const code of [...FAILURE_CODES, ...HOLD_REASON_CODES]) expect(code).toMatch(/^[A-Z]+(_[A-Z]+)+$/);
  const texts = [
    ...Object.values(ORDER_FAILURES).flatMap(({ message, when }) => [message, when]),
    ...Object.values(HOLD_REASONS).map(({ when }) => when),
  ];
  for (const text of texts) {
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect(text, 'would warn those whom a screening is about').not.toMatch(
      /screen|sanction|suspicio|fraud|launder/i,
    );
  }
});
