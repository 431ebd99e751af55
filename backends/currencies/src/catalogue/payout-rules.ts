import { isLiveOn } from './institution-listing.ts';
import { fieldsOfRail } from './rail-view.ts';
import type { BeneficiaryType, Institution, PaymentField, Rail, RailFormat } from './reference-data.ts';

export type InstitutionChoice = {
  rail: Rail;
  institutionId?: string | undefined;
  country?: string | undefined;
  currency?: string | undefined;
};

export type InstitutionResolution =
  | { ok: true; institution: Institution }
  | { ok: false; reason: 'INSTITUTION_REQUIRED' | 'INSTITUTION_NOT_AVAILABLE' };

/** What details have to look like for one institution and beneficiary. */
export type DetailsFormat = {
  formatId: string | null;
  fields: readonly PaymentField[];
  requireOneOf: readonly (readonly string[])[];
  senderIdentity: RailFormat['senderIdentity'];
};

/**
 * The institution a payout goes through, by C4.1 rules 1, 2, 4 and 7: a directory rail ignores what is
 * sent, an omission resolves to the rail's own method, and either way it has to be live where it is to be used.
 */
export function resolveInstitution(
  { rail, institutionId, country, currency }: InstitutionChoice,
  institutions: ReadonlyMap<string, Institution>,
): InstitutionResolution {
  const sent = rail.institutionDirectory === true ? undefined : institutionId;
  const slug = sent ?? rail.defaultInstitution;
  if (slug === null) return { ok: false, reason: 'INSTITUTION_REQUIRED' };
  const institution = institutions.get(slug);
  const reachable =
    institution !== undefined &&
    isLiveOn(institution, rail) &&
    (country === undefined ||
      (institution.countries.includes(country) && rail.countries.includes(country))) &&
    (currency === undefined || rail.currencies.includes(currency));
  return reachable ? { ok: true, institution } : { ok: false, reason: 'INSTITUTION_NOT_AVAILABLE' };
}

/** C4.1 rules 5 and 6: the format whose types contain the institution's and whose beneficiary type is the one asked. */
export function detailsFormatOf(
  rail: Rail,
  institutionType: string,
  beneficiaryType: BeneficiaryType = 'individual',
): DetailsFormat | undefined {
  const requireOneOf = rail.requireOneOf ?? [];
  if (rail.formats === undefined) {
    return { formatId: null, fields: fieldsOfRail(rail), requireOneOf, senderIdentity: undefined };
  }
  const format = rail.formats.find(
    (candidate) =>
      candidate.institutionTypes.includes(institutionType) &&
      (candidate.beneficiaryType ?? beneficiaryType) === beneficiaryType,
  );
  if (format === undefined) return undefined;
  // A consumer-to-consumer wallet pays persons only, whatever the rail leaves unsaid.
  if (format.senderIdentity !== undefined && beneficiaryType === 'business') return undefined;
  return {
    formatId: format.id,
    fields: format.fields,
    requireOneOf,
    senderIdentity: format.senderIdentity,
  };
}
