import { explainUnsafePattern } from './pattern-safety.ts';
import type { Institution, PaymentField, Rail, ReferenceData } from './reference-data.ts';

/** What is wrong with reference data, told so that the person who edits it finds the place. */
export type ReferenceProblem = { file: string; field: string; message: string };

export class ReferenceDataError extends Error {
  readonly problems: readonly ReferenceProblem[];

  constructor(problems: readonly ReferenceProblem[]) {
    const shown = problems.slice(0, 20).map(({ file, field, message }) => `${file} ${field}: ${message}`);
    const rest = problems.length > shown.length ? `\n… and ${problems.length - shown.length} more` : '';
    super(`Reference data is not valid\n${shown.join('\n')}${rest}`);
    this.name = 'ReferenceDataError';
    this.problems = problems;
  }
}

/** Where a record came from: a file's name, or the kind and slug of a record that is kept elsewhere. */
export type OriginOf = (kind: keyof ReferenceData, key: string) => string;

type Report = (file: string, field: string, message: string) => void;
type Known = {
  countries: ReadonlySet<string>;
  currencies: ReadonlySet<string>;
  types: ReadonlySet<string>;
  rails: ReadonlyMap<string, Rail>;
  institutions: ReadonlyMap<string, Institution>;
};

/** Everything a schema cannot say: references that must lead somewhere, identities, patterns and placeholders. */
export function findReferenceProblems(data: ReferenceData, originOf: OriginOf): ReferenceProblem[] {
  const problems: ReferenceProblem[] = [];
  const report: Report = (file, field, message) => problems.push({ file, field, message });
  const known: Known = {
    countries: new Set(data.countries.map((country) => country.code)),
    currencies: new Set(data.fiatCurrencies.map((currency) => currency.code)),
    types: new Set(data.institutionTypes.map((type) => type.slug)),
    rails: new Map(data.rails.map((rail) => [rail.slug, rail])),
    institutions: new Map(data.institutions.map((institution) => [institution.slug, institution])),
  };
  checkIdentities(data, originOf, report);
  checkChains(data, originOf, report);
  for (const currency of data.fiatCurrencies) {
    const file = originOf('fiatCurrencies', currency.code);
    checkKnown(currency.countries, known.countries, file, `${currency.code}.countries`, report);
  }
  for (const rail of data.rails) checkRail(rail, known, originOf('rails', rail.slug), report);
  for (const institution of data.institutions) {
    checkInstitution(institution, known, originOf('institutions', institution.slug), report);
  }
  return problems;
}

function checkIdentities(data: ReferenceData, originOf: OriginOf, report: Report): void {
  const distinct = <T>(kind: keyof ReferenceData, records: readonly T[], keyOf: (record: T) => string) => {
    const seen = new Set<string>();
    for (const record of records) {
      const key = keyOf(record);
      if (seen.has(key)) report(originOf(kind, key), key, 'occurs twice');
      seen.add(key);
    }
  };
  distinct('chains', data.chains, (chain) => chain.slug);
  distinct('fiatCurrencies', data.fiatCurrencies, (currency) => currency.code);
  distinct('countries', data.countries, (country) => country.code);
  distinct('institutionTypes', data.institutionTypes, (type) => type.slug);
  distinct('rails', data.rails, (rail) => rail.slug);
  distinct('institutions', data.institutions, (institution) => institution.slug);
  distinctNumbers(data.rails, (rail) => [rail.id, originOf('rails', rail.slug), 'id'], report);
  distinctNumbers(
    data.institutions.filter((institution) => institution.paymentMethodId !== undefined),
    (institution) => [
      institution.paymentMethodId ?? 0,
      originOf('institutions', institution.slug),
      `${institution.slug}.paymentMethodId`,
    ],
    report,
  );
}

function distinctNumbers<T>(
  records: readonly T[],
  read: (record: T) => [number, string, string],
  report: Report,
) {
  const seen = new Set<number>();
  for (const record of records) {
    const [id, file, field] = read(record);
    if (seen.has(id)) report(file, field, `${id} is taken`);
    seen.add(id);
  }
}

function checkChains(data: ReferenceData, originOf: OriginOf, report: Report): void {
  const assets = new Set<string>(data.assets.map((asset) => asset.code));
  for (const chain of data.chains) {
    const file = originOf('chains', chain.slug);
    const seen = new Set<string>();
    for (const token of chain.tokens) {
      if (!assets.has(token.code)) report(file, `${chain.slug}.tokens`, `${token.code} is no asset`);
      if (seen.has(token.code)) report(file, `${chain.slug}.tokens`, `${token.code} occurs twice`);
      seen.add(token.code);
    }
  }
}

function checkKnown(
  values: readonly string[],
  known: { has(value: string): boolean },
  file: string,
  field: string,
  report: Report,
): void {
  for (const value of values) if (!known.has(value)) report(file, field, `${value} is not known`);
}

function checkRail(rail: Rail, known: Known, file: string, report: Report): void {
  checkKnown(rail.currencies, known.currencies, file, 'currencies', report);
  checkKnown(rail.countries, known.countries, file, 'countries', report);
  if ((rail.fields === undefined) === (rail.formats === undefined)) {
    report(file, 'fields', 'a rail has either fields or formats');
  }
  checkDefaultInstitution(rail, known, file, report);
  checkFields(rail.fields ?? [], file, 'fields', report);
  const formatIds = new Set<string>();
  for (const format of rail.formats ?? []) {
    checkKnown(format.institutionTypes, known.types, file, `formats.${format.id}.institutionTypes`, report);
    checkFields(format.fields, file, `formats.${format.id}.fields`, report);
    if (formatIds.has(format.id)) report(file, `formats.${format.id}`, 'occurs twice');
    formatIds.add(format.id);
  }
  const keys = new Set((rail.fields ?? []).map((field) => field.key));
  for (const group of rail.requireOneOf ?? []) checkKnown(group, keys, file, 'requireOneOf', report);
}

function checkDefaultInstitution(rail: Rail, known: Known, file: string, report: Report): void {
  if (rail.defaultInstitution === null) {
    if (!rail.institutionRequired) report(file, 'defaultInstitution', 'is needed where none is required');
    return;
  }
  const institution = known.institutions.get(rail.defaultInstitution);
  if (institution === undefined) {
    report(file, 'defaultInstitution', `${rail.defaultInstitution} is not known`);
  } else if (!institution.supportedRails.includes(rail.slug)) {
    report(file, 'defaultInstitution', `${rail.defaultInstitution} does not support the rail`);
  }
}

function checkFields(fields: readonly PaymentField[], file: string, at: string, report: Report): void {
  const seen = new Set<string>();
  for (const field of fields) {
    const place = `${at}.${field.key}`;
    if (seen.has(field.key)) report(file, place, 'occurs twice');
    seen.add(field.key);
    if ((field.type === 'select') !== (field.options !== undefined)) {
      report(file, place, 'a select field, and no other, has options');
    }
    checkPattern(field, file, place, report);
  }
}

function checkPattern(field: PaymentField, file: string, place: string, report: Report): void {
  const { pattern, placeholder, maxLength } = field;
  if (pattern === undefined) {
    if (field.type !== 'select') report(file, place, 'has no pattern');
    return;
  }
  const unsafe = explainUnsafePattern(pattern, maxLength);
  if (unsafe !== undefined) {
    report(file, `${place}.pattern`, unsafe);
    return;
  }
  if (placeholder === undefined) return;
  if ([...placeholder].length > maxLength) report(file, `${place}.placeholder`, 'is longer than maxLength');
  if (!new RegExp(pattern, 'u').test(placeholder)) {
    report(file, `${place}.placeholder`, 'does not satisfy the pattern');
  }
}

function checkInstitution(institution: Institution, known: Known, file: string, report: Report): void {
  const at = institution.slug;
  if (!known.types.has(institution.institutionType)) {
    report(file, `${at}.institutionType`, `${institution.institutionType} is not known`);
  }
  checkKnown(institution.countries, known.countries, file, `${at}.countries`, report);
  checkKnown(institution.supportedRails, known.rails, file, `${at}.supportedRails`, report);
  const own = new Set(institution.supportedRails);
  checkKnown(institution.suspendedRails ?? [], own, file, `${at}.suspendedRails`, report);
  checkKnown(Object.keys(institution.codes ?? {}), own, file, `${at}.codes`, report);
  if ((institution.directoryOnly ?? false) === (institution.paymentMethodId !== undefined)) {
    report(file, `${at}.paymentMethodId`, 'is what a directory entry lacks and every other one has');
  }
  for (const slug of institution.supportedRails) {
    const rail = known.rails.get(slug);
    if (rail === undefined) continue;
    if (!institution.countries.some((country) => rail.countries.includes(country))) {
      report(file, `${at}.countries`, `the rail ${slug} reaches none of them`);
    }
    const formats = rail.formats;
    if (formats?.every((format) => !format.institutionTypes.includes(institution.institutionType))) {
      report(file, `${at}.institutionType`, `no format of ${slug} is for ${institution.institutionType}`);
    }
  }
}
