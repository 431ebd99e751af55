import type { BeneficiaryType } from './validation/rail-shape.types.ts';
import type { DetailsValidation } from './validation/validate-details.ts';

export interface DetailsRequest {
  readonly rail: string;
  readonly currency: string;
  readonly countryCode: string;
  readonly institutionId: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Details that fit, in the form that is kept. */
export interface CheckedDetails {
  readonly rail: string;
  readonly currency: string;
  readonly countryCode: string;
  readonly institutionId: string | null;
  readonly formatId: string | null;
  readonly beneficiaryType: BeneficiaryType;
  readonly details: Readonly<Record<string, string>>;
}

/** The rail and the institution of an order that exists already. */
export interface DetailsPlace {
  readonly rail: string;
  readonly institutionId: string;
}

/** Says whether details are complete and well formed; never whether the account exists. */
export interface DetailsCheck {
  /** Throws the refusal (a CausewayError), or `DetailsCheckUnavailable` when nobody can say at present. */
  check(request: DetailsRequest): CheckedDetails;
  /** The same of an order's payer or payee, whose rail is settled; SERVICE_UNAVAILABLE when nobody can say. */
  fit(place: DetailsPlace, details: unknown): DetailsValidation;
  /** The countries whose nationals alone the rail pays; null where it pays anybody. */
  nationalsOf(rail: string): readonly string[] | null;
  /** Details as they may be shown; what is not known to be public is masked. */
  mask(rail: string, details: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

export class DetailsCheckUnavailable extends Error {
  override readonly name = 'DetailsCheckUnavailable';
}
