import { CausewayError, type OfferInput, type OfferPatchInput } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Chains } from '../../chain/chains.ts';
import { recordAction } from '../../engine/audit.ts';
import type { UnitDeps, UnitOfWork } from '../../engine/unit-of-work.ts';
import type { OperatorPrincipal } from '../../http/principals.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Offers } from '../../ports/offers.ts';
import {
  countOffers,
  insertOffer,
  lockOffer,
  lockReviewed,
  lockVendor,
  type OfferRow,
  setAuthorized,
  updateOffer,
  withdrawOffer,
} from './offer.store.ts';
import { type OfferGround, readNewOffer, readOfferChange } from './read-offer.ts';

export interface OfferDeps extends UnitDeps {
  readonly offers: Offers;
  readonly currencies: Currencies;
  readonly chains: Chains;
}

/** Every process keeps every offer in memory, so no vendor may have them without end. */
const MAX_OFFERS_OF_A_VENDOR = 1_000;

export async function createOffer(
  deps: OfferDeps,
  unit: UnitOfWork,
  vendorId: string,
  given: Static<typeof OfferInput>,
): Promise<OfferRow> {
  requireOwnBook(deps);
  const terms = readNewOffer(given, groundOf(deps));
  // The vendor's row is the turnstile: of two offers made at once, the second is counted after the first.
  const [, [count]] = await unit.tx.queryBoth(lockVendor, [vendorId], countOffers, [vendorId]);
  if (Number(count?.total ?? 0) >= MAX_OFFERS_OF_A_VENDOR) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: `A vendor has at most ${MAX_OFFERS_OF_A_VENDOR} offers; withdraw one first.`,
    });
  }
  const [row] = await unit.tx.query(insertOffer, [
    unit.ids.uuid(),
    vendorId,
    terms.side,
    terms.crypto_currency,
    terms.fiat_currency,
    terms.fixed_price,
    terms.margin_pct,
    terms.min_amount,
    terms.max_amount,
    JSON.stringify(terms.payment_options),
    terms.countries,
    terms.available_balance,
    unit.at,
  ]);
  return found(row);
}

export async function changeOffer(
  deps: OfferDeps,
  unit: UnitOfWork,
  vendorId: string,
  offerId: string,
  change: Static<typeof OfferPatchInput>,
): Promise<OfferRow> {
  requireOwnBook(deps);
  const offer = found((await unit.tx.query(lockOffer, [offerId, vendorId]))[0]);
  const terms = readOfferChange(offer, change, groundOf(deps));
  const [row] = await unit.tx.query(updateOffer, [
    offerId,
    terms.fixed_price,
    terms.margin_pct,
    terms.min_amount,
    terms.max_amount,
    JSON.stringify(terms.payment_options),
    terms.countries,
    terms.available_balance,
  ]);
  return found(row);
}

export async function endOffer(
  deps: OfferDeps,
  unit: UnitOfWork,
  vendorId: string,
  offerId: string,
): Promise<void> {
  requireOwnBook(deps);
  found((await unit.tx.query(withdrawOffer, [offerId, vendorId]))[0]);
}

export interface AuthorizationDecision {
  readonly authorized: boolean;
  readonly reason: string;
  /** The version that was looked at, where the operator wants no other one to be authorized. */
  readonly version?: number;
}

export async function decideAuthorization(
  deps: OfferDeps,
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  offerId: string,
  decision: AuthorizationDecision,
): Promise<{ authorized: boolean; version: number }> {
  requireOwnBook(deps);
  const before = found((await unit.tx.query(lockReviewed, [offerId]))[0]);
  if (decision.version !== undefined && decision.version !== Number(before.version)) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The offer has changed since that version; look at it again.',
    });
  }
  const after = found((await unit.tx.query(setAuthorized, [offerId, decision.authorized]))[0]);
  recordAction(unit, operator, {
    action: decision.authorized ? 'offer.authorize' : 'offer.refuse',
    subject: `offers/${offerId}`,
    reason: decision.reason,
    before: { authorized: before.authorized, version: Number(before.version) },
    after: { authorized: after.authorized, version: Number(after.version) },
  });
  return { authorized: after.authorized, version: Number(after.version) };
}

/** A missing offer and another vendor's are the same to the caller. */
function found<T>(row: T | undefined): T {
  if (row === undefined) throw new CausewayError('OFFER_NOT_FOUND');
  return row;
}

function requireOwnBook({ offers }: OfferDeps): void {
  if (offers.ownsOffers) return;
  throw new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'This deployment’s offers backend keeps the offers; change them there.',
  });
}

function groundOf({ currencies, chains }: OfferDeps): OfferGround {
  return {
    catalogue: currencies.current().reference.catalogue,
    tokens: chains.all.flatMap(({ settings }) => settings.tokens),
  };
}
