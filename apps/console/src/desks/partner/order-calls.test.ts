import { describe, expect, it } from 'vitest';
import { payersOf } from './order-calls.ts';

const order = {
  payment_network_slug: 'interac-canada',
  amounts: {
    crypto_amount: '70.00',
    fiat_amount: '100.00',
    crypto_currency: 'USDC',
    fiat_currency: 'CAD',
    rate: '1.4',
  },
};

describe('who may pay an order', () => {
  it('is an account of its rail and its currency, and no other of the customer’s', () => {
    const saved = [
      { id: 1, rail: 'interac-canada', currency: 'CAD' },
      { id: 2, rail: 'eft-canada', currency: 'CAD' },
      { id: 3, rail: 'interac-canada', currency: 'USD' },
      { id: 4, rail: 'iban-sepa', currency: 'EUR' },
      { id: 5, rail: 'interac-canada', currency: 'CAD' },
    ];
    expect(payersOf(order, saved).map(({ id }) => id)).toEqual([1, 5]);
    expect(payersOf(order, saved.slice(1, 4))).toEqual([]);
    expect(payersOf(order, [])).toEqual([]);
  });
});
