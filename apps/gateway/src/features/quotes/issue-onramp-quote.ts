import {
  type Asset,
  CausewayError,
  decide,
  formatPercent,
  NEW,
  type OnrampPrice,
  type OnrampQuoteRequest,
  type Percent,
  PRICE_REFUSAL_CODES,
  parsePercent,
  parsePositiveAmount,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
  type QuoteSchema,
  quoteMachine,
  ZERO_PERCENT,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidFields } from '../../http/errors.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import { kycNotCleared } from './claim-quote.ts';
import { type Corridor, FIRST_CORRIDOR } from './first-corridor.ts';
import { insertQuote, kycStatusOfUser } from './quote.store.ts';
import { quoteView } from './quote.view.ts';

export interface QuoteTools {
  readonly quoteTtlSeconds: number;
  /** The tokens of a partner's settlement chain. */
  tokensOf(chain: string): readonly Asset[];
  /** Who sells on the first corridor. */
  readonly corridorVendorId: () => Promise<string>;
}

type Request = Static<typeof OnrampQuoteRequest>;

export async function issueOnrampQuote(
  tools: QuoteTools,
  unit: UnitOfWork,
  partner: PartnerPrincipal,
  request: Request,
  corridorVendorId: string,
): Promise<Static<typeof QuoteSchema>> {
  const chain = partner.partner.settlementChain;
  const crypto = tools.tokensOf(chain).find((token) => token.code === request.crypto_currency.toUpperCase());
  if (crypto === undefined) throw new CausewayError('UNSUPPORTED_CRYPTO_CURRENCY');
  const corridor = corridorFor(request);
  const platformFee = percentOf(partner.partner.platformFeePct, 'platform_fee_pct');
  const partnerFee =
    request.partner_fee_pct === undefined
      ? ZERO_PERCENT
      : percentOf(request.partner_fee_pct, 'partner_fee_pct');
  const { anchor, price } = priceOf(request, corridor, crypto, platformFee, partnerFee);

  const [user] = await unit.tx.query(kycStatusOfUser, [request.user_uuid]);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  const kycCleared = user.kyc_status === 'VERIFIED';
  const decision = decide(quoteMachine, NEW, 'quote_issued', { kycCleared, pastExpiry: false }, 'partner');
  if (decision.kind === 'refused') throw kycNotCleared(user.kyc_status);

  const quoteId = unit.ids.uuid();
  const expiresAt = new Date(unit.at.getTime() + tools.quoteTtlSeconds * 1_000);
  unit.tx.defer(insertQuote, [
    quoteId,
    partner.partnerId,
    request.user_uuid,
    'onramp',
    anchor,
    corridorVendorId,
    chain,
    crypto.code,
    crypto.decimals,
    corridor.fiat.code,
    corridor.fiat.decimals,
    corridor.rateText,
    price.cryptoAmount,
    price.fiatAmount,
    price.platformFee,
    formatPercent(platformFee),
    price.partnerFee,
    formatPercent(partnerFee),
    corridor.paymentMethodSlug,
    corridor.paymentNetworkSlug,
    request.country_code?.toUpperCase() ?? null,
    unit.at,
    expiresAt,
  ]);
  return quoteView({ quoteId, expiresAt, price, crypto, corridor, platformFee, partnerFee });
}

function corridorFor(request: Request): Corridor {
  if (request.fiat_currency.toUpperCase() !== FIRST_CORRIDOR.fiat.code) {
    throw new CausewayError('UNSUPPORTED_FIAT_CURRENCY');
  }
  const { payment_method_slug: method, payment_network_slug: network } = request;
  const fits =
    (method === undefined || method === FIRST_CORRIDOR.paymentMethodSlug) &&
    (network === undefined || network === FIRST_CORRIDOR.paymentNetworkSlug);
  if (!fits) throw new CausewayError('NO_OFFERS_AVAILABLE');
  return FIRST_CORRIDOR;
}

function percentOf(value: string | number, path: string): Percent {
  const parsed = parsePercent(value);
  if (!parsed.ok) throw invalidFields([{ path, message: `is not a valid percentage (${parsed.reason})` }]);
  return parsed.value;
}

function priceOf(
  request: Request,
  corridor: Corridor,
  crypto: Asset,
  platformFee: Percent,
  partnerFee: Percent,
): { anchor: 'fiat' | 'crypto'; price: OnrampPrice } {
  const { fiat_amount: fiatText, crypto_amount: cryptoText } = request;
  if ((fiatText === undefined) === (cryptoText === undefined)) {
    const message = 'give exactly one of fiat_amount and crypto_amount';
    throw invalidFields([
      { path: 'fiat_amount', message },
      { path: 'crypto_amount', message },
    ]);
  }
  const anchor = fiatText === undefined ? 'crypto' : 'fiat';
  const asset = anchor === 'fiat' ? corridor.fiat : crypto;
  const amount = parsePositiveAmount(fiatText ?? cryptoText, asset);
  if (!amount.ok) {
    throw invalidFields([{ path: `${anchor}_amount`, message: `is not a valid amount (${amount.reason})` }]);
  }
  const terms = priceTerms({ rate: corridor.rate, crypto, fiat: corridor.fiat, platformFee, partnerFee });
  const priced =
    anchor === 'fiat'
      ? priceOnrampFiatAnchored(amount.value.atomic, terms)
      : priceOnrampCryptoAnchored(amount.value.atomic, terms);
  if (!priced.ok) throw new CausewayError(PRICE_REFUSAL_CODES[priced.reason]);
  return { anchor, price: priced.value };
}
