import type { WidgetPricingInput } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Estimate, Quote, Session } from '../session/api.ts';
import type { Draft } from '../session/steps.ts';
import { api } from '../session/store.ts';

type PricingInput = Static<typeof WidgetPricingInput>;

export function tokenDecimals(of: Session | null, code: string): number {
  return of?.chain.tokens.find((token) => token.code === code)?.decimals ?? 6;
}

/** What the partner’s server has set and the customer cannot change. */
export function isFixed(of: Session | null, name: keyof Session['start']): boolean {
  return of?.locked === true && of.start[name] !== undefined;
}

/** The amount that was typed is the one that holds: what is paid or what arrives, fees included. */
export function pricingInput(draft: Draft): PricingInput {
  const { side, anchor, amount, cryptoCurrency, fiatCurrency, country, rail, institution } = draft;
  return {
    side,
    crypto_currency: cryptoCurrency,
    fiat_currency: fiatCurrency,
    ...(anchor === 'fiat' ? { fiat_amount: amount } : { crypto_amount: amount }),
    ...(country === '' ? {} : { country_code: country }),
    ...(rail === '' ? {} : { payment_network_slug: rail }),
    ...(side === 'onramp' && institution !== '' ? { payment_method_slug: institution } : {}),
  };
}

/** A firm price for a minute. Off-ramp: the account that is paid decides the rail and the country. */
export function firmQuote(draft: Draft): Promise<Quote> {
  const input = pricingInput(draft);
  if (draft.side === 'onramp' || draft.paymentDetailsId === null) return api().quote(input);
  const { country_code: _country, payment_network_slug: _rail, ...rest } = input;
  return api().quote({ ...rest, payment_details_id: draft.paymentDetailsId });
}

type Figures = Pick<Estimate, 'pay_amount' | 'receive_amount'>;

/** The two amounts of a price by currency, whichever way they go. */
export function amountsOf(side: Draft['side'], price: Figures): Record<'fiat' | 'crypto', string> {
  return side === 'onramp'
    ? { fiat: price.pay_amount, crypto: price.receive_amount }
    : { fiat: price.receive_amount, crypto: price.pay_amount };
}
