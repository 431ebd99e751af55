import { isSEPACountry, isValidBIC, isValidIBAN } from 'ibantools';
import {
  isAbaRouting,
  isCbu,
  isClabe,
  isCnpj,
  isCpf,
  isCuit,
  isCzechAccount,
  isHungarianAccount,
  isMoroccanRib,
  isNewZealandAccount,
  isNorwegianAccount,
  isRut,
  isSerbianAccount,
  passesLuhn,
} from './check-digits.ts';
import type { FieldContext, FieldFormat } from './field-format.types.ts';

const withoutSpaces = (value: string): string => value.replace(/\s/gu, '');
const compact = (value: string): string => value.replace(/[\s.\-/]/gu, '');
const upperCompact = (value: string): string => compact(value).toUpperCase();

/** A number whose separators only help the eye, and whose check digit has to hold. */
function numbered(isRight: (value: string) => boolean): FieldFormat {
  return {
    normalise: compact,
    explain: (value) => (isRight(value) ? undefined : 'has a wrong check digit'),
  };
}

const grouped: FieldFormat = { normalise: compact };

function explainIban(value: string, { rail }: FieldContext): string | undefined {
  if (!isValidIBAN(value)) return 'is not a valid IBAN';
  const country = value.slice(0, 2);
  const inSepa = rail.currencies.includes('EUR') && isSEPACountry(country);
  return rail.countries.includes(country) || inSepa ? undefined : 'is of a country this rail does not serve';
}

function explainKennitala(value: string): string | undefined {
  // New numbers are issued without a check digit, so only the date and the century can be judged.
  const day = Number(value.slice(0, 2)) % 40;
  const month = Number(value.slice(2, 4));
  const isDate = day >= 1 && day <= 31 && month >= 1 && month <= 12;
  return isDate && '890'.includes(value.slice(-1)) ? undefined : 'is not a kennitala';
}

function normaliseRut(value: string): string {
  const text = upperCompact(value);
  return text.length < 2 ? text : `${text.slice(0, -1)}-${text.slice(-1)}`;
}

function normaliseNewZealand(value: string): string {
  const digits = compact(value);
  if (!/^\d{15,16}$/.test(digits)) return digits;
  const suffix = digits.slice(13).padStart(3, '0');
  return `${digits.slice(0, 2)}-${digits.slice(2, 6)}-${digits.slice(6, 13)}-${suffix}`;
}

export const accountFormats: Readonly<Record<string, FieldFormat>> = {
  account_number: { normalise: (value) => withoutSpaces(value).toUpperCase() },
  aba_routing: numbered(isAbaRouting),
  bd_routing: grouped,
  bic: {
    normalise: (value) => withoutSpaces(value).toUpperCase(),
    explain: (value) => (isValidBIC(value) ? undefined : 'is not a valid BIC'),
  },
  bsb: grouped,
  cbu: numbered(isCbu),
  cci: grouped,
  clabe: numbered(isClabe),
  cnaps: grouped,
  cpf_cnpj: {
    normalise: upperCompact,
    explain: (value) => (isCpf(value) || isCnpj(value) ? undefined : 'is not a valid CPF or CNPJ'),
  },
  cuit: numbered(isCuit),
  cz_account: {
    normalise: withoutSpaces,
    explain: (value) => (isCzechAccount(value) ? undefined : 'has a wrong check digit'),
  },
  dk_registration: grouped,
  hu_account: numbered(isHungarianAccount),
  iban: { normalise: upperCompact, explain: explainIban },
  ifsc: { normalise: upperCompact },
  is_account: grouped,
  jp_branch: grouped,
  kennitala: { normalise: compact, explain: explainKennitala },
  national_id: { normalise: (value) => withoutSpaces(value).toUpperCase() },
  no_account: numbered(isNorwegianAccount),
  nrb: numbered((value) => isValidIBAN(`PL${value}`)),
  // Its check digit is not judged: some institutions number accounts by telephone, and a real account is not refused.
  nuban: grouped,
  nz_account: {
    normalise: normaliseNewZealand,
    explain: (value) => (isNewZealandAccount(compact(value)) ? undefined : 'has a wrong check digit'),
  },
  rib_morocco: numbered(isMoroccanRib),
  rs_account: numbered(isSerbianAccount),
  rut: {
    normalise: normaliseRut,
    explain: (value) => (isRut(value) ? undefined : 'has a wrong check digit'),
  },
  se_clearing: grouped,
  sort_code: grouped,
  uk_account: grouped,
  union_pay_card: numbered(passesLuhn),
  za_branch: grouped,
};
