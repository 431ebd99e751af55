import { CausewayError } from '@causeway/protocol';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import type { Catalogue, Currencies } from '../../ports/currencies.ts';
import type { BeneficiaryType } from './validation/field-format.types.ts';
import { maskDetails } from './validation/mask-details.ts';
import {
  type DetailsValidation,
  recipientFieldsMessage,
  validateDetails,
} from './validation/validate-details.ts';

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
export interface DetailsLocation {
  readonly rail: string;
  readonly institutionId: string;
}

/** Says whether details are complete and well formed; never whether the account exists. */
export interface DetailsCheck {
  /** Throws the refusal (a CausewayError), or `DetailsCheckUnavailable` when they cannot be checked at present. */
  check(request: DetailsRequest): CheckedDetails;
  /** The same of an order's payer or payee, whose rail is settled; SERVICE_UNAVAILABLE when it cannot be checked. */
  fit(location: DetailsLocation, details: unknown): DetailsValidation;
  /** The countries whose nationals alone the rail pays; null where it pays any person. */
  nationalsOf(rail: string): readonly string[] | null;
  /** Details as they may be shown; what is not known to be public is masked. */
  mask(rail: string, details: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

export class DetailsCheckUnavailable extends Error {
  override readonly name = 'DetailsCheckUnavailable';
}

/** Checks details against the rails of the currencies backend, as the newest snapshot has them. */
export function createCatalogueCheck(currencies: Currencies): DetailsCheck {
  function catalogue(): Catalogue {
    try {
      return currencies.current().reference.catalogue;
    } catch (error) {
      throw new DetailsCheckUnavailable('there is no reference data', { cause: error });
    }
  }
  return {
    check: (request) => checkAgainst(catalogue(), request),
    fit(location, details) {
      const known = currencies.current().reference.catalogue;
      // An order outlives its rail's going offline.
      const rail = known.data.rails.find(({ slug }) => slug === location.rail);
      if (rail === undefined) throw new CausewayError('SERVICE_UNAVAILABLE');
      const institution = known.institution(location.institutionId);
      return validateDetails(rail, details, { institutionType: institution?.institutionType });
    },
    nationalsOf(slug) {
      const rail = catalogue().rail(slug);
      return rail?.formats?.some(({ nationalsOnly }) => nationalsOnly) ? rail.countries : null;
    },
    mask(rail, details) {
      let shape: ReturnType<Catalogue['rail']>;
      try {
        shape = catalogue().rail(rail);
      } catch (error) {
        if (!(error instanceof DetailsCheckUnavailable)) throw error;
      }
      // Without the rail's fields nothing is known to be public.
      return maskDetails(shape ?? { slug: rail, countries: [], currencies: [] }, details);
    },
  };
}

function checkAgainst(catalogue: Catalogue, request: DetailsRequest): CheckedDetails {
  const rail = catalogue.rail(request.rail);
  if (rail === undefined) throw invalidRequest('rail', 'is not a supported rail');
  const currency = request.currency.toUpperCase();
  const countryCode = request.countryCode.toUpperCase();
  if (!rail.currencies.includes(currency)) throw invalidRequest('currency', 'is not served by this rail');
  if (!rail.countries.includes(countryCode)) {
    throw invalidRequest('country_code', 'is not served by this rail');
  }
  const resolution = catalogue.resolveInstitution({
    rail: rail.slug,
    institutionId: request.institutionId,
    country: countryCode,
    currency,
  });
  if (resolution === undefined) throw invalidRequest('rail', 'is not a supported rail');
  if (!resolution.ok) throw new CausewayError(resolution.reason);
  const { institution } = resolution;
  const validation = validateDetails(rail, request.details, {
    institutionType: institution.institutionType,
  });
  if (!validation.ok) {
    throw new CausewayError('INVALID_RECIPIENT_FIELDS', {
      message: recipientFieldsMessage(validation.problems),
      details: { fields: validation.problems.map(({ path, message }) => ({ path, message })) },
    });
  }
  return {
    rail: rail.slug,
    currency,
    countryCode,
    institutionId: institution.slug,
    formatId: validation.formatId,
    beneficiaryType: validation.beneficiaryType,
    details: validation.details,
  };
}

const MAX_KEY_LENGTH = 40;
const MAX_VALUE_LENGTH = 255;
const SLUG = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;

/**
 * Details that could not be checked, kept because the contract says so. They are bounded and text all the same; code that
 * pays by them later checks them again.
 */
export function uncheckedDetails(request: DetailsRequest): CheckedDetails {
  const details: Record<string, string> = {};
  const problems: { path: string; message: string }[] = [];
  if (!SLUG.test(request.rail)) problems.push({ path: 'rail', message: 'is not a supported rail' });
  if (request.institutionId !== undefined && !SLUG.test(request.institutionId)) {
    problems.push({ path: 'institution_id', message: 'is not an institution' });
  }
  for (const [key, value] of Object.entries(request.details)) {
    if (key.length > MAX_KEY_LENGTH || !/^[a-z][a-z0-9_]*$/.test(key)) continue;
    if (typeof value !== 'string') problems.push({ path: `details.${key}`, message: 'must be a string' });
    else if (value.length > MAX_VALUE_LENGTH || !value.isWellFormed()) {
      problems.push({ path: `details.${key}`, message: 'is not acceptable text' });
    } else if (value.trim() !== '') details[key] = value.trim();
  }
  if (problems.length > 0) throw invalidFields(problems);
  return {
    rail: request.rail,
    currency: request.currency.toUpperCase(),
    countryCode: request.countryCode.toUpperCase(),
    institutionId: request.institutionId ?? null,
    formatId: null,
    beneficiaryType: details.beneficiary_type === 'business' ? 'business' : 'individual',
    details,
  };
}
