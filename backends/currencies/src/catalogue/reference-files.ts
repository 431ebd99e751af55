import { readdirSync, readFileSync } from 'node:fs';
import type { Static } from 'typebox';
import { ReferenceDataError } from './reference-checks.ts';
import { type Institution, type Rail, type ReferenceData, referenceFileSchemas } from './reference-data.ts';
import { assertConsistent, fileParser } from './reference-validation.ts';

const DATA_DIRECTORY = new URL('../../data/', import.meta.url);

type InstitutionsFile = Static<typeof referenceFileSchemas.institutions>;

const parseChains = fileParser(referenceFileSchemas.chains);
const parseFiatCurrencies = fileParser(referenceFileSchemas.fiatCurrencies);
const parseCountries = fileParser(referenceFileSchemas.countries);
const parseInstitutionTypes = fileParser(referenceFileSchemas.institutionTypes);
const parseRail = fileParser(referenceFileSchemas.rail);
const parseInstitutions = fileParser(referenceFileSchemas.institutions);

/** The reference data that comes with the code. Throws a ReferenceDataError that names the file and the field. */
export function loadReferenceFiles(directory: URL = DATA_DIRECTORY): ReferenceData {
  const read = (name: string): unknown => readJson(directory, name);
  const { assets, chains } = parseChains('chains.json', read('chains.json'));
  const { fiatCurrencies } = parseFiatCurrencies('fiat-currencies.json', read('fiat-currencies.json'));
  const { countries } = parseCountries('countries.json', read('countries.json'));
  const types = 'institution-types.json';
  const { institutionTypes } = parseInstitutionTypes(types, read(types));

  const rails = jsonFilesIn(directory, 'rails').map((file) => readRail(file, read(file)));
  const institutions: Institution[] = [];
  const institutionFiles = new Map<string, string>();
  for (const file of jsonFilesIn(directory, 'institutions')) {
    for (const institution of readInstitutions(file, parseInstitutions(file, read(file)))) {
      institutions.push(institution);
      institutionFiles.set(institution.slug, file);
    }
  }

  rails.sort((left, right) => left.id - right.id);
  const data = { assets, chains, fiatCurrencies, countries, institutionTypes, rails, institutions };
  const filesByKind: Record<keyof ReferenceData, (key: string) => string> = {
    assets: () => 'chains.json',
    chains: () => 'chains.json',
    fiatCurrencies: () => 'fiat-currencies.json',
    countries: () => 'countries.json',
    institutionTypes: () => types,
    rails: (slug) => `rails/${slug}.json`,
    institutions: (slug) => institutionFiles.get(slug) ?? 'institutions',
  };
  assertConsistent(data, (kind, key) => filesByKind[kind](key));
  return data;
}

function readRail(file: string, value: unknown): Rail {
  const { source: _source, ...rail } = parseRail(file, value);
  if (file !== `rails/${rail.slug}.json`) {
    throw new ReferenceDataError([{ file, field: '/slug', message: 'differs from the name of the file' }]);
  }
  return rail;
}

function readInstitutions(file: string, { defaults, institutions }: InstitutionsFile): Institution[] {
  return institutions.map((entry) => {
    const { institutionType, countries, supportedRails } = { ...defaults, ...entry };
    if (institutionType === undefined || countries === undefined || supportedRails === undefined) {
      throw new ReferenceDataError([
        { file, field: entry.slug, message: 'needs institutionType, countries and supportedRails' },
      ]);
    }
    return { ...defaults, ...entry, institutionType, countries, supportedRails };
  });
}

function jsonFilesIn(directory: URL, folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, directory))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function readJson(directory: URL, name: string): unknown {
  try {
    return JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ReferenceDataError([{ file: name, field: '/', message }]);
  }
}
