import {
  CausewayError,
  type KycStatus,
  type OfframpQuoteRequest,
  type ScreeningStatus,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import type { Catalogue } from '../../ports/currencies.ts';
import type { RecipientSnapshot } from '../recipients/destinations.ts';

type Request = Static<typeof OfframpQuoteRequest>;

/** Who is paid, as the request names them: the customer's own profile or a third party, never a mixture. */
export type NamedPayee =
  | { readonly mode: 'own'; readonly userId: string; readonly paymentDetailsId: string }
  | {
      readonly mode: 'third_party';
      readonly userId: string;
      readonly recipientId: string;
      readonly destinationId: string;
    };

/** Where the fiat goes, as far as pricing is concerned. */
export interface PayoutLocation {
  readonly rail: string;
  readonly currency: string;
  readonly country_code: string;
  readonly institution_id: string | null;
}

export interface PaymentDetailsLocation extends PayoutLocation {
  readonly payment_details_id: string;
}

/** What the quote keeps of its payee. */
export interface Payee {
  readonly paymentDetailsId?: string;
  readonly snapshot?: RecipientSnapshot;
  readonly relationship: string | undefined;
  readonly purpose: string | undefined;
}

/** A sender's row with the recipient's and the destination's beside it, each null where there is none to be used. */
export interface ThirdPartyRow {
  kyc_status: KycStatus;
  recipient_id: string | null;
  recipient_destination_id: string | null;
  destination_created_at: Date;
  /** Of the account's holder. */
  holder_status: ScreeningStatus;
  [column: string]: unknown;
}

const OWN_FIELDS = ['user_uuid', 'payment_details_id'] as const;
const THIRD_PARTY_FIELDS = ['sender_id', 'recipient_id', 'recipient_destination_id'] as const;
const LARGEST_ID = 2n ** 63n - 1n;

export function namedPayee(request: Request): NamedPayee {
  const isThirdParty = THIRD_PARTY_FIELDS.some((field) => request[field] !== undefined);
  const wanted = isThirdParty ? THIRD_PARTY_FIELDS : OWN_FIELDS;
  const missing = wanted.filter((field) => request[field] === undefined);
  if (missing.length > 0) throw invalidFields(missing.map((path) => ({ path, message: 'is required' })));
  const { user_uuid, payment_details_id, sender_id, recipient_id, recipient_destination_id } = request;
  if (!isThirdParty) {
    return { mode: 'own', userId: user_uuid ?? '', paymentDetailsId: storableId(payment_details_id) };
  }
  if (payment_details_id !== undefined) {
    throw invalidRequest('payment_details_id', 'must be left out where a recipient is paid');
  }
  if (user_uuid !== undefined && user_uuid !== sender_id) {
    throw invalidRequest('user_uuid', 'must be left out or equal sender_id where a recipient is paid');
  }
  return {
    mode: 'third_party',
    userId: sender_id ?? '',
    recipientId: recipient_id ?? '',
    destinationId: recipient_destination_id ?? '',
  };
}

/** A number that the database cannot hold belongs to no customer; 0 is never given. */
function storableId(id: string | number | undefined): string {
  const text = String(id);
  return /^[0-9]{1,19}$/.test(text) && BigInt(text) <= LARGEST_ID ? text : '0';
}

/** The request narrowed to where the payee is paid; what it says otherwise must agree with it. */
export function requestForLocation(
  request: Request,
  location: PayoutLocation,
  catalogue: Catalogue,
): Request {
  const institution = institutionOf(location, catalogue);
  const agree = (path: keyof Request, given: string | undefined, actual: string) => {
    if (given !== undefined && given !== actual) {
      throw invalidRequest(path, `must agree with the payment details, which say ${actual}`);
    }
  };
  agree('fiat_currency', request.fiat_currency.toUpperCase(), location.currency);
  agree('payment_network_slug', request.payment_network_slug, location.rail);
  agree('payment_method_slug', request.payment_method_slug, institution);
  agree('country_code', request.country_code?.toUpperCase(), location.country_code);
  return {
    ...request,
    payment_network_slug: location.rail,
    payment_method_slug: institution,
    country_code: location.country_code,
  };
}

/** It was live when the details were saved; money is quoted only where it still is. */
function institutionOf(location: PayoutLocation, catalogue: Catalogue): string {
  const resolution = catalogue.resolveInstitution({
    rail: location.rail,
    institutionId: location.institution_id ?? undefined,
    country: location.country_code,
    currency: location.currency,
  });
  if (resolution === undefined) throw new CausewayError('INSTITUTION_NOT_AVAILABLE');
  if (!resolution.ok) throw new CausewayError(resolution.reason);
  return resolution.institution.slug;
}

/** Some wallets pay only certain people: there the relationship has to be said, and to be one of those. */
export function requireRelationship(
  relationship: string | undefined,
  railSlug: string,
  catalogue: Catalogue,
): void {
  const allowed: readonly string[] | undefined = catalogue.rail(railSlug)?.relationships;
  if (allowed === undefined) return;
  if (relationship === undefined) {
    throw invalidRequest('sender_recipient_relationship', `is required on ${railSlug}`);
  }
  if (!allowed.includes(relationship)) throw new CausewayError('RELATIONSHIP_NOT_ALLOWED');
}
