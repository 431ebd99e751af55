import type { InstitutionPageView, InstitutionView } from './catalogue-views.ts';
import { InstitutionDirectory } from './institution-directory.ts';
import type { Institution, InstitutionType, Rail } from './reference-data.ts';
import { deepFreeze } from './reference-validation.ts';

export type InstitutionsQuery = {
  rail: string;
  institutionId?: string | undefined;
  country?: string | undefined;
  currency?: string | undefined;
  search?: string | undefined;
  code?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
};

export type InstitutionListing = (query: InstitutionsQuery) => InstitutionPageView | undefined;

const DEFAULT_LIMIT = 20;

export function isLiveOn(institution: Institution, rail: Rail): boolean {
  return (
    rail.live !== false &&
    institution.live !== false &&
    institution.supportedRails.includes(rail.slug) &&
    !(institution.suspendedRails ?? []).includes(rail.slug)
  );
}

/** The institutions endpoint: only what is live on the rail asked for. Undefined where no such rail exists. */
export function buildInstitutionListing(
  rails: readonly Rail[],
  institutions: readonly Institution[],
  types: readonly InstitutionType[],
): InstitutionListing {
  const broadTypes = new Map(types.map(({ slug, type }) => [slug, type]));
  const railsBySlug = new Map(rails.map((rail) => [rail.slug, rail]));
  const directories = new Map<string, InstitutionDirectory>();

  /** Made when it is first asked for: most rails are not, and all of them would hold up every start. */
  function directoryOf(rail: Rail): InstitutionDirectory {
    const known = directories.get(rail.slug);
    if (known !== undefined) return known;
    const directory = new InstitutionDirectory(
      institutions
        .filter((institution) => isListedOn(institution, rail))
        .map((institution) => ({
          view: deepFreeze(toInstitutionView(institution, rail, broadTypes)),
          countries: new Set(institution.countries.filter((country) => rail.countries.includes(country))),
          codes: codesOn(institution, rail),
        })),
    );
    directories.set(rail.slug, directory);
    return directory;
  }

  return ({ rail: slug, currency, limit = DEFAULT_LIMIT, offset = 0, ...filter }) => {
    const rail = railsBySlug.get(slug);
    if (rail === undefined) return undefined;
    const reachesCurrency = currency === undefined || rail.currencies.includes(currency);
    const found = reachesCurrency ? directoryOf(rail).matching(filter) : [];
    return {
      institutions: found.slice(offset, offset + limit),
      pagination: { total: found.length, limit, offset },
    };
  };
}

/** A rail with a directory lists that directory; the generic method behind it is resolved, not chosen. */
function isListedOn(institution: Institution, rail: Rail): boolean {
  const inDirectory = institution.directoryOnly === true;
  return isLiveOn(institution, rail) && inDirectory === (rail.institutionDirectory === true);
}

function codesOn(institution: Institution, rail: Rail): string[] {
  const own = codeOn(institution, rail);
  return [...(own === undefined ? [] : [own]), ...(institution.alternateCodes ?? [])];
}

function codeOn(institution: Institution, rail: Rail): string | undefined {
  return institution.codes?.[rail.slug] ?? institution.code;
}

function toInstitutionView(
  institution: Institution,
  rail: Rail,
  broadTypes: ReadonlyMap<string, string>,
): InstitutionView {
  const code = codeOn(institution, rail);
  const suspended = institution.suspendedRails ?? [];
  return {
    id: institution.slug,
    ...(institution.paymentMethodId !== undefined && {
      payment_method_id: institution.paymentMethodId,
      payment_network_id: rail.id,
    }),
    name: institution.name,
    type: broadTypes.get(institution.institutionType) ?? 'BANK',
    institution_type: institution.institutionType,
    ...(code !== undefined && { code }),
    branch: institution.branch ?? null,
    supported_rails: institution.supportedRails.filter((slug) => !suspended.includes(slug)),
  };
}
