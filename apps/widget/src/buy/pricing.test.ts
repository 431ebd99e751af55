import { expect, test } from 'vitest';
import { EMPTY_DRAFT } from '../session/steps.ts';
import { amountsOf, pricingInput } from './pricing.ts';

const DRAFT = {
  ...EMPTY_DRAFT,
  cryptoCurrency: 'USDC',
  fiatCurrency: 'KES',
  country: 'KE',
  rail: 'mpesa-kenya',
  institution: 'm-pesa-kenya',
  amount: '5000',
};

test('the amount that was typed is the one that is sent', () => {
  expect(pricingInput(DRAFT)).toEqual({
    side: 'onramp',
    crypto_currency: 'USDC',
    fiat_currency: 'KES',
    fiat_amount: '5000',
    country_code: 'KE',
    payment_network_slug: 'mpesa-kenya',
    payment_method_slug: 'm-pesa-kenya',
  });
  const crypto = pricingInput({ ...DRAFT, anchor: 'crypto', amount: '0.000001' });
  expect(crypto).toHaveProperty('crypto_amount', '0.000001');
  expect(crypto).not.toHaveProperty('fiat_amount');
});

test('an institution is how an on-ramp is paid; an off-ramp’s is part of its account', () => {
  expect(pricingInput({ ...DRAFT, side: 'offramp' })).not.toHaveProperty('payment_method_slug');
});

test('either way the two figures belong to their own fields', () => {
  const price = { pay_amount: '1', receive_amount: '2' };
  expect(amountsOf('onramp', price)).toEqual({ fiat: '1', crypto: '2' });
  expect(amountsOf('offramp', price)).toEqual({ crypto: '1', fiat: '2' });
});
