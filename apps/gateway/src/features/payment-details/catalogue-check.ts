import { CausewayError } from '@causeway/protocol';
import { invalidRequest } from '../../http/errors.ts';
import type { Catalogue, Currencies } from '../../upstream/currencies.port.ts';
import {
  type CheckedDetails,
  type DetailsCheck,
  DetailsCheckUnavailable,
  type DetailsRequest,
} from './details-check.port.ts';
import { maskDetails } from './validation/mask-details.ts';
import {
  recipientFieldsMessage,
  type ValidationChoice,
  validateDetails,
} from './validation/validate-details.ts';

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
    fit(place, details) {
      const known = currencies.current().reference.catalogue;
      // An order outlives its rail's going offline.
      const rail = known.data.rails.find(({ slug }) => slug === place.rail);
      if (rail === undefined) throw new CausewayError('SERVICE_UNAVAILABLE');
      return validateDetails(rail, details, choiceOf(rail.slug, known.institution(place.institutionId)));
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
  const validation = validateDetails(rail, request.details, choiceOf(rail.slug, institution));
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

function choiceOf(rail: string, institution: ReturnType<Catalogue['institution']>): ValidationChoice {
  if (institution === undefined) return {};
  const ownCode = institution.codes?.[rail] ?? institution.code;
  return {
    institutionType: institution.institutionType,
    institutionCodes: [...(ownCode === undefined ? [] : [ownCode]), ...(institution.alternateCodes ?? [])],
  };
}
