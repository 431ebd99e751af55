import type { Estimate, OfframpQuoteRequest, OnrampQuoteRequest, PricingRequest, Quote } from '@causeway/sdk';
import { type Invocation, type Run, text } from '../command.ts';
import { clientOf, publicClientOf } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';
import { fields, type Paint } from '../output.ts';
import { feesOf } from './orders.ts';

/** For whom a quote is; without any of them it is an estimate. */
const PARTIES = {
  user: 'user_uuid',
  'payment-details': 'payment_details_id',
  sender: 'sender_id',
  recipient: 'recipient_id',
  destination: 'recipient_destination_id',
  relationship: 'sender_recipient_relationship',
  purpose: 'purpose_of_payment',
} as const;

const PRICING = {
  crypto: 'crypto_currency',
  fiat: 'fiat_currency',
  'crypto-amount': 'crypto_amount',
  'fiat-amount': 'fiat_amount',
  method: 'payment_method_slug',
  network: 'payment_network_slug',
  country: 'country_code',
  scope: 'provider_scope',
  'fee-pct': 'partner_fee_pct',
} as const;

/** What it costs: an estimate for nobody in particular, a firm quote for a customer. */
export const quote: Run = async (invocation) => {
  const { args, output, profile, signal } = invocation;
  const isOnramp = args[0] === 'onramp';
  const pricing = pick(invocation, PRICING);
  const parties = pick(invocation, PARTIES);
  for (const name of ['crypto', 'fiat'] as const) {
    if (pricing[PRICING[name]] === undefined) throw usage(`causeway quote needs --${name}.`);
  }
  if ((pricing.crypto_amount === undefined) === (pricing.fiat_amount === undefined)) {
    throw usage('causeway quote needs one of --fiat-amount and --crypto-amount.');
  }
  const isFirm = parties.user_uuid !== undefined || parties.sender_id !== undefined;
  const needsCustomer = Object.keys(parties).length > 0 && !isFirm;
  if (needsCustomer || (isOnramp && Object.keys(parties).some((name) => name !== 'user_uuid'))) {
    throw usage(
      isOnramp ? 'An on-ramp is quoted for --user alone.' : 'A quote for somebody needs --user or --sender.',
    );
  }
  const found = await profile();
  if (!isFirm) {
    const causeway =
      found.keys.partner === undefined ? publicClientOf(found.baseUrl) : clientOf(found, 'partner');
    const resource = isOnramp ? causeway.onramp : causeway.offramp;
    const estimate = await resource.estimate(pricing as unknown as PricingRequest, { signal });
    output.result(estimate, (paint) => describe(estimate, pricing, isOnramp, paint));
    output.note('An estimate, good for nothing but a look; --user makes a quote that binds.');
    return;
  }
  const causeway = clientOf(found, 'partner');
  const body = { ...pricing, ...parties };
  const firm = isOnramp
    ? await causeway.onramp.quote(body as unknown as OnrampQuoteRequest, { signal })
    : await causeway.offramp.quote(body as unknown as OfframpQuoteRequest, { signal });
  output.result(firm, (paint) => describe(firm, pricing, isOnramp, paint));
};

type Given = Readonly<Record<string, string>>;

function pick(invocation: Invocation, names: Readonly<Record<string, string>>): Given {
  return Object.fromEntries(
    Object.entries(names).flatMap(([option, field]) => {
      const value = text(invocation, option);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

const usage = (message: string) =>
  new CommandError(message, { exitCode: EXIT.usage, hint: 'causeway help quote says what it takes.' });

function describe(priced: Estimate | Quote, pricing: Given, isOnramp: boolean, paint: Paint): string {
  const fiat = `${priced.fiat_amount} ${pricing.fiat_currency?.toUpperCase()}`;
  const crypto = `${priced.crypto_amount} ${pricing.crypto_currency?.toUpperCase()}`;
  const isFirm = 'quote_id' in priced;
  return fields(
    [
      ['quote', isFirm ? priced.quote_id : null],
      ['pays', paint('bold', isOnramp ? fiat : crypto)],
      ['gets', paint('bold', isOnramp ? crypto : fiat)],
      ['rate', priced.rate],
      ['fees', feesOf(priced.fee_breakdown, pricing.crypto_currency?.toUpperCase() ?? '')],
      ['paid by', `${priced.payment_method_slug} over ${priced.payment_network_slug}`],
      ['valid until', isFirm ? priced.expires_at : null],
    ],
    paint,
  );
}
