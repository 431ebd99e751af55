import { CausewayError, type Percent } from '@causeway/protocol';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import {
  type Match,
  type MatchOutcome,
  type MatchRequest,
  matchOffer,
  type Offers,
  REJECTION_REASONS,
  type RejectionCounts,
} from '../../upstream/offers.port.ts';
import { railLookupOf } from '../../upstream/offers-rails.ts';
import { referenceRateOf } from './reference-rate.ts';

/** What pricing looks at: everything is in memory, nothing is asked of anybody. */
export interface PricingTools {
  readonly currencies: Currencies;
  readonly offers: Offers;
  readonly metrics: Pick<Metrics, 'quotesRefusedTotal'>;
  readonly logger: Logger;
}

type Refused = Extract<MatchOutcome, { ok: false }>;

/** The best offer that can really serve the request, or the refusal that the partner gets to see. */
export function findMatch(tools: PricingTools, request: MatchRequest, platformFee: Percent): Match {
  const { reference, rates } = tools.currencies.current();
  const outcome = matchOffer(tools.offers.book(), request, {
    referenceRate: referenceRateOf(rates, request.crypto.code, request.fiat.code),
    platformFee,
    rail: railLookupOf(reference.catalogue),
  });
  if (outcome.ok) return outcome.match;
  const { error, reason } = refusalOf(outcome, request.anchor);
  tools.metrics.quotesRefusedTotal.inc({ direction: request.direction, reason });
  tools.logger.info(
    {
      direction: request.direction,
      crypto_currency: request.crypto.code,
      fiat_currency: request.fiat.code,
      payment_network_slug: request.paymentNetworkSlug,
      payment_method_slug: request.paymentMethodSlug,
      country_code: request.country,
      provider_scope: request.providerScope,
      code: error.code,
      reason,
      rejected: outcome.rejected,
    },
    'no offer serves the request',
  );
  throw error;
}

function refusalOf(
  { refusal, rejected }: Refused,
  anchor: MatchRequest['anchor'],
): { error: CausewayError; reason: string } {
  // Offers that follow the market wait for a rate they may be priced on; an old one is no substitute.
  if (rejected.no_reference_rate !== undefined) {
    return {
      error: new CausewayError('SERVICE_UNAVAILABLE', {
        message: 'There is no current market rate for this pair. Try again shortly.',
      }),
      reason: 'no_reference_rate',
    };
  }
  // Some offer takes the amount, and the fees leave nothing of it: another amount is not what is needed.
  if (rejected.fees !== undefined && refusal.code === 'AMOUNT_OUT_OF_RANGE') {
    return { error: new CausewayError('INVALID_PARTNER_FEE'), reason: 'fees' };
  }
  switch (refusal.code) {
    case 'NO_OFFERS_AVAILABLE':
      return { error: new CausewayError('NO_OFFERS_AVAILABLE'), reason: mainReason(rejected) };
    case 'AMOUNT_OUT_OF_RANGE': {
      const { range } = refusal;
      const details =
        range === undefined
          ? {}
          : { currency: range.currency, min_amount: range.minAmount, max_amount: range.maxAmount };
      const message = `${anchor}_amount is outside the range that can be served.`;
      return {
        error: new CausewayError('AMOUNT_OUT_OF_RANGE', { message, details }),
        reason: mainReason(rejected),
      };
    }
    default:
      return { error: new CausewayError(refusal.code), reason: 'fees' };
  }
}

/** What kept most offers from serving; among equals the one that matching names first. */
function mainReason(rejected: RejectionCounts): string {
  let main = 'no_offers_for_pair';
  let most = 0;
  for (const reason of REJECTION_REASONS) {
    const count = rejected[reason] ?? 0;
    if (count > most) {
      main = reason;
      most = count;
    }
  }
  return main;
}
