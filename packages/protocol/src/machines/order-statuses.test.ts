import { describe, expect, test } from 'vitest';
import { OrderStatusSchema } from '../wire/index.ts';
import {
  additiveStatuses,
  ORDER_CANCELLED,
  ORDER_COMPLETED,
  ORDER_DISPUTED,
  ORDER_INITIAL,
  ORDER_MACHINES,
  type OrderStatus,
  orderStatusesThatKnow,
  orderStatusesWithOutcome,
  orderStatusesWithPartnerStep,
  revealsPaymentDetails,
  vendorFailures,
} from './index.ts';

describe('what the tables say about statuses', () => {
  test('an order is settled once crypto has reached the buyer, whatever its send-out does', () => {
    expect(orderStatusesWithOutcome('settled')).toEqual([
      'completed',
      'send_out_pending',
      'send_out_completed',
      'send_out_failed',
    ]);
    expect(orderStatusesWithOutcome('stopped')).toEqual(['cancelled', 'failed']);
    expect(orderStatusesWithOutcome('disputed')).toEqual(['dispute_started']);
  });

  test('the statuses that the program itself names are in the tables', () => {
    const { onramp, offramp } = ORDER_MACHINES;
    expect(offramp.statusNames).toContain(ORDER_INITIAL);
    for (const status of [ORDER_COMPLETED, ORDER_DISPUTED, ORDER_CANCELLED]) {
      expect(onramp.statusNames).toContain(status);
      expect(offramp.statusNames).toContain(status);
    }
  });

  // Proves C3.1 rule 2.
  test('every terminal status has an outcome', () => {
    for (const machine of Object.values(ORDER_MACHINES)) {
      for (const status of machine.statusNames) {
        if (machine.statuses[status]?.terminal) expect(machine.statuses[status]?.outcome).toBeDefined();
      }
    }
  });

  // Proves C3.2 rule 1.
  test('statuses that C3.1 and C3.2 do not list are marked as additions, and no webhook carries one', () => {
    const LISTED = {
      onramp: [
        'awaiting_liquidity_provider',
        'awaiting_vendor_escrow_funding',
        'awaiting_fiat_transfer',
        'fiat_transfer_pending',
        'completed',
        'send_out_pending',
        'send_out_completed',
        'send_out_failed',
        'cancelled',
        'failed',
        'dispute_started',
      ],
      offramp: [
        'created',
        'awaiting_liquidity_provider',
        'awaiting_crypto_transfer_authorization',
        'crypto_transfer_authorization_pending',
        'crypto_received',
        'fiat_payment_started',
        'fiat_payment_review_started',
        'awaiting_fiat_received_confirmation',
        'fiat_received_confirmed',
        'crypto_release_pending',
        'completed',
        'cancelled',
        'failed',
        'dispute_started',
      ],
    };
    for (const direction of ['onramp', 'offramp'] as const) {
      const { statusNames, statuses } = ORDER_MACHINES[direction];
      const added = additiveStatuses(direction);
      expect(statusNames.filter((status) => !added.includes(status)).sort()).toEqual(
        LISTED[direction].toSorted(),
      );
      for (const status of added) expect(statuses[status]?.published).toBe(false);
      for (const status of added)
        expect(OrderStatusSchema).toMatchObject({ description: expect.stringContaining(status) });
    }
  });

  test('a vendor can be passed over only while the order waits for one', () => {
    expect(orderStatusesThatKnow('vendor_declined')).toEqual(['awaiting_liquidity_provider']);
  });

  test('the partner may be asked for a step while an order is under way, and for a signature after its end', () => {
    expect(orderStatusesWithPartnerStep()).toEqual({
      underWay: [
        'awaiting_fiat_transfer',
        'awaiting_crypto_transfer_authorization',
        'awaiting_fiat_received_confirmation',
      ],
      ended: ['dispute_started', 'cancelled', 'failed'],
    });
  });

  test('a vendor fails by not funding, not paying, and not proving it well; a cancellation that was asked for is none', () => {
    expect(vendorFailures()).toEqual([
      'VENDOR_DID_NOT_FUND',
      'VENDOR_DID_NOT_PAY',
      'PAYMENT_PROOF_NOT_RENEWED',
      'PAYMENT_PROOFS_REFUSED',
    ]);
    // None of them may name anything else as well.
    const owed = [
      'awaiting_vendor_escrow_funding',
      'crypto_received',
      'fiat_payment_started',
      'fiat_payment_review_started',
    ];
    for (const { transitions } of Object.values(ORDER_MACHINES)) {
      const blamed = transitions.filter(
        ({ failure }) => failure !== undefined && vendorFailures().includes(failure),
      );
      for (const row of blamed) expect(owed).toContain(row.from);
    }
  });

  // Proves D6.10.
  test('the end user is told where to pay from awaiting_fiat_transfer on, and never by an order that stopped before', () => {
    const { onramp } = ORDER_MACHINES;
    const tells = (kycCleared: boolean, ...passed: readonly OrderStatus[]) =>
      revealsPaymentDetails(onramp, { status: passed.at(-1) ?? 'created', passed, kycCleared });
    expect(tells(true, 'awaiting_vendor_escrow_funding', 'cancelled')).toBe(false);
    expect(tells(true, 'awaiting_fiat_transfer')).toBe(true);
    expect(tells(true, 'awaiting_fiat_transfer', 'cancelled')).toBe(true);
    // Without KYC, only one that has paid already.
    expect(tells(false, 'awaiting_fiat_transfer')).toBe(false);
    expect(tells(false, 'awaiting_fiat_transfer', 'cancelled')).toBe(false);
    expect(tells(false, 'awaiting_fiat_transfer', 'fiat_transfer_pending')).toBe(true);
  });
});
