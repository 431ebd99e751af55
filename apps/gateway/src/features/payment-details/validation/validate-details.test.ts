import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldShape, FormatShape, RailShape } from './field-format.types.ts';
import { KNOWN_FORMATS } from './field-formats.ts';
import { recipientFieldsMessage, type ValidationChoice, validateDetails } from './validate-details.ts';

type FieldInFile = FieldShape & { readonly placeholder?: string };
interface RailFile extends RailShape {
  readonly fields?: readonly FieldInFile[];
  readonly formats?: readonly (FormatShape & { readonly fields: readonly FieldInFile[] })[];
}

const folder = new URL('../../../../../../backends/currencies/data/rails/', import.meta.url);
const rails = new Map(
  readdirSync(folder).map((file) => {
    const rail = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as RailFile;
    return [rail.slug, rail];
  }),
);
const rail = (slug: string): RailFile => rails.get(slug)!;

const problemsOf = (slug: string, details: unknown, choice?: ValidationChoice) => {
  const result = validateDetails(rail(slug), details, choice);
  return result.ok ? {} : Object.fromEntries(result.problems.map(({ path, message }) => [path, message]));
};
const acceptedOf = (slug: string, details: unknown, choice?: ValidationChoice) => {
  const result = validateDetails(rail(slug), details, choice);
  return result.ok ? result.details : result.problems;
};

describe('every rail of the reference data', () => {
  it('names only formats that are known here', () => {
    const formats = [...rails.values()].flatMap(({ fields = [], formats = [] }) =>
      [...fields, ...formats.flatMap((format) => format.fields)].flatMap(({ format }) => format ?? []),
    );
    expect(formats.length).toBeGreaterThan(200);
    expect(formats.filter((format) => !KNOWN_FORMATS.has(format))).toEqual([]);
  });

  it.each([...rails.keys()])('%s: an empty object is refused and every required field is named', (slug) => {
    for (const format of rail(slug).formats ?? [undefined]) {
      const choice = {
        institutionType: format?.institutionTypes[0],
        beneficiaryType: format?.beneficiaryType,
      };
      const required = (format?.fields ?? rail(slug).fields ?? []).filter((field) => field.required);
      const problems = problemsOf(slug, {}, choice);
      for (const { key } of required) expect(problems).toHaveProperty([`details.${key}`], 'is required');
    }
  });

  it.each([...rails.keys()])(
    '%s: its placeholders are taken, with the first option of each choice',
    (slug) => {
      for (const format of rail(slug).formats ?? [undefined]) {
        const { institutionTypes: [institutionType] = [], beneficiaryType } = format ?? {};
        const fields = format?.fields ?? rail(slug).fields ?? [];
        const details = Object.fromEntries(
          fields.map(({ key, options, placeholder }) => [key, options?.[0]?.code ?? placeholder]),
        );
        expect(problemsOf(slug, details, { institutionType, beneficiaryType })).toEqual({});
      }
    },
  );

  it.each([...rails.keys()])(
    '%s: hostile values never throw and never pass as text too long for the field',
    (slug) => {
      const fields = [
        ...(rail(slug).fields ?? []),
        ...(rail(slug).formats ?? []).flatMap((format) => format.fields),
      ];
      const hostile = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.constantFrom<unknown>(
          null,
          0,
          -1,
          1e21,
          true,
          [],
          {},
          '',
          ' ',
          '\u0000',
          '\uD800',
          'a'.repeat(100_000),
          '0'.repeat(255),
        ),
      );
      fc.assert(
        fc.property(fc.record(Object.fromEntries(fields.map(({ key }) => [key, hostile]))), (details) => {
          for (const format of rail(slug).formats ?? [undefined]) {
            const result = validateDetails(rail(slug), details, {
              institutionType: format?.institutionTypes[0],
              beneficiaryType: format?.beneficiaryType,
            });
            if (!result.ok) continue;
            for (const { key, maxLength } of fields) {
              expect([...(result.details[key] ?? '')].length).toBeLessThanOrEqual(maxLength);
            }
          }
        }),
        { numRuns: 20 },
      );
    },
  );
});

describe('values are stored in one form', () => {
  const samples: readonly [slug: string, key: string, typed: string, stored: string][] = [
    ['iban-sepa', 'iban', ' de89 3704 0044 0532 0130 00 ', 'DE89370400440532013000'],
    ['iban-sepa', 'bic', 'cobadeffxxx', 'COBADEFFXXX'],
    ['iban-sepa', 'full_name', '  Ada   Lovelace ', 'Ada Lovelace'],
    ['iban-sepa', 'full_name', 'Jose\u0301 Vargas', 'José Vargas'],
    ['imps-neft-india', 'ifsc_code', 'hdfc0000001', 'HDFC0000001'],
    ['faster-payments', 'sort_code', '20-00-00', '200000'],
    ['npp-australia', 'bsb', '062-000', '062000'],
    ['spei', 'clabe', '032 180 00011835971 9', '032180000118359719'],
    ['transferencias-argentina', 'cuit', '20-12345678-6', '20123456786'],
    ['tef-chile', 'rut', '12.345.678-5', '12345678-5'],
    ['direct-credit-new-zealand', 'account_number', '12 3140 0171323 50', '12-3140-0171323-050'],
    ['ghana-transfer', 'phone_number', '024 123 4567', '+233241234567'],
    ['mpesa-kenya', 'phone_number', '0712 345 678', '+254712345678'],
    ['interac-canada', 'email', 'Ada@Example.COM', 'ada@example.com'],
    ['zengin-japan', 'account_name_kana', 'ﾔﾏﾀﾞ', 'ヤマダ'],
    ['zengin-japan', 'account_name_kana', 'やまだ', 'ヤマダ'],
    ['ach-us', 'account_type', 'CHECKING', 'checking'],
  ];
  it.each(samples)('%s.%s: %j becomes %j', (slug, key, typed, stored) => {
    const formats = rail(slug).formats;
    const fields = formats?.find((format) => format.fields.some((field) => field.key === key)) ?? rail(slug);
    const institutionType = 'institutionTypes' in fields ? fields.institutionTypes[0] : undefined;
    const details = Object.fromEntries(
      (fields.fields ?? []).map((field) => [field.key, (field as { placeholder?: string }).placeholder]),
    );
    expect(acceptedOf(slug, { ...details, [key]: typed }, { institutionType })).toMatchObject({
      [key]: stored,
    });
  });
});

describe('values that fit their pattern but are wrong', () => {
  const samples: readonly [slug: string, key: string, value: string, message: RegExp][] = [
    ['iban-sepa', 'iban', 'DE89370400440532013001', /not a valid IBAN/],
    ['iban-sepa', 'iban', 'SA0380000000608010167519', /does not serve/],
    ['iban-sepa', 'bic', 'COBAZZFFXXX', /not a valid BIC/],
    ['ach-us', 'routing_number', '021000022', /check digit/],
    ['spei', 'clabe', '032180000118359718', /check digit/],
    ['transferencias-argentina', 'cbu', '2850590940090418135202', /check digit/],
    ['pix', 'tax_id', '12345678900', /CPF or CNPJ/],
    ['elixir-poland', 'account_number', '61109010140000071219812875', /check digit/],
    ['mpesa-kenya', 'phone_number', '+254999999999', /phone number/],
    ['iceland-transfer', 'kennitala', '551373-0339', /kennitala/],
    ['iban-sepa', 'full_name', '12345', /no letter/],
    ['iban-sepa', 'full_name', 'Ada\u202EecalevoL', /cannot be seen/],
    ['interac-canada', 'email', 'ada..l@example.com', /email/],
    ['zengin-japan', 'account_name_kana', '123', /katakana/],
  ];
  it.each(samples)('%s.%s %j', (slug, key, value, message) => {
    expect(problemsOf(slug, { [key]: value })[`details.${key}`]).toMatch(message);
  });
});

describe('aliases fit the kind they are declared as', () => {
  const samples: readonly [
    slug: string,
    type: [string, string],
    key: string,
    right: string,
    stored: string,
    wrong: string,
  ][] = [
    ['pix', ['pix_key_type', 'cpf'], 'pix_key', '123.456.789-09', '12345678909', '12345678900'],
    ['pix', ['pix_key_type', 'cnpj'], 'pix_key', '11222333000181', '11222333000181', '11222333000182'],
    ['pix', ['pix_key_type', 'email'], 'pix_key', 'Ana@Example.com', 'ana@example.com', 'ana@example'],
    ['pix', ['pix_key_type', 'phone'], 'pix_key', '11 98765-4321', '+5511987654321', '+14165550123'],
    [
      'pix',
      ['pix_key_type', 'evp'],
      'pix_key',
      '123E4567-e89b-42d3-a456-426614174000',
      '123e4567-e89b-42d3-a456-426614174000',
      '123e4567-e89b',
    ],
    ['paynow', ['proxy_type', 'nric'], 'proxy_value', 's1234567d', 'S1234567D', 'S1234567E'],
    ['paynow', ['proxy_type', 'uen'], 'proxy_value', '201912345K', '201912345K', '20191234'],
    ['paynow', ['proxy_type', 'mobile'], 'proxy_value', '9123 4567', '+6591234567', '+60123456789'],
    ['promptpay', ['proxy_type', 'mobile'], 'proxy_value', '+66812345678', '0812345678', '0012345678'],
    [
      'promptpay',
      ['proxy_type', 'national_id'],
      'proxy_value',
      '1101700230708',
      '1101700230708',
      '1101700230709',
    ],
    ['duitnow', ['proxy_type', 'nric'], 'proxy_value', '900131-14-5678', '900131145678', '901331145678'],
    ['fps-hong-kong', ['proxy_type', 'fps_id'], 'proxy_value', '1234567', '1234567', '12345678'],
    ['bre-b-colombia', ['key_type', 'alias'], 'key_value', '@AdaLovelace', '@adalovelace', 'adalovelace'],
    ['bre-b-colombia', ['key_type', 'mobile'], 'key_value', '+573001234567', '3001234567', '2001234567'],
  ];
  it.each(samples)('%s %j', (slug, [typeKey, type], key, right, stored, wrong) => {
    const details = { full_name: 'Ada Lovelace', tax_id: '12345678909', [typeKey]: type };
    expect(acceptedOf(slug, { ...details, [key]: right })).toMatchObject({ [key]: stored });
    expect(problemsOf(slug, { ...details, [key]: wrong })).toHaveProperty([`details.${key}`]);
  });

  it('an unknown kind is told once, at the kind', () => {
    const problems = problemsOf('pix', {
      pix_key_type: 'fax',
      pix_key: '12345',
      full_name: 'Ana',
      tax_id: '12345678909',
    });
    expect(Object.keys(problems)).toEqual(['details.pix_key_type']);
  });
});

describe('the format follows institution and beneficiary', () => {
  const person = { full_name: 'Kwame Mensah' };
  it('mobile money is keyed on phone_number, a bank on account_number', () => {
    expect(problemsOf('ghana-transfer', person, { institutionType: 'mobile-money' })).toEqual({
      'details.phone_number': 'is required',
    });
    expect(problemsOf('ghana-transfer', person, { institutionType: 'traditional-banks' })).toEqual({
      'details.account_number': 'is required',
    });
  });
  it('an unknown or missing institution type is refused where formats differ', () => {
    expect(problemsOf('ghana-transfer', person)).toHaveProperty(['institution_id']);
    expect(problemsOf('ghana-transfer', person, { institutionType: 'airlines' })).toHaveProperty([
      'institution_id',
    ]);
  });
  it('one candidate needs no institution', () => {
    const details = { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '13800138000' };
    expect(acceptedOf('alipay-china', details)).toMatchObject({ mobile_number: '+8613800138000' });
  });
  // Proves C4.1 rule 6.
  it('a company is paid through the business format, and its type is kept in details', () => {
    const company = {
      beneficiary_type: 'business',
      company_name: 'Shenzhen Example Trading Co., Ltd.',
      company_name_native: '深圳市示例贸易有限公司',
      account_number: '110912345610301',
    };
    const result = validateDetails(rail('cnaps'), company, { institutionType: 'traditional-banks' });
    expect(result).toMatchObject({ ok: true, formatId: 'cnaps-bank_business', beneficiaryType: 'business' });
    expect(acceptedOf('cnaps', company, { institutionType: 'traditional-banks' })).toHaveProperty(
      'beneficiary_type',
      'business',
    );
  });
  it('a wallet that pays persons refuses a company', () => {
    expect(problemsOf('alipay-china', { beneficiary_type: 'business' })).toHaveProperty([
      'details.beneficiary_type',
    ]);
  });
  it('an unknown beneficiary type is refused', () => {
    expect(problemsOf('cnaps', { beneficiary_type: 'charity' })).toHaveProperty(['details.beneficiary_type']);
  });
});

describe('completeness', () => {
  it('asks for one of several fields where the rail does', () => {
    expect(problemsOf('interac-canada', { full_name: 'Emma Tremblay' })).toEqual({
      'details.email': 'one of email, phone_number is required',
      'details.phone_number': 'one of email, phone_number is required',
    });
    expect(
      problemsOf('interac-canada', { full_name: 'Emma Tremblay', phone_number: '+14165550123' }),
    ).toEqual({});
  });
  it('leaves out keys the rail does not have, inherited ones included', () => {
    const sent = JSON.parse(
      '{"full_name":"Ada Lovelace","iban":"DE89370400440532013000","x":"1","__proto__":{"bic":"nonsense"}}',
    );
    expect(acceptedOf('iban-sepa', sent)).toEqual({
      full_name: 'Ada Lovelace',
      iban: 'DE89370400440532013000',
    });
  });
  it.each([null, undefined, 'text', 1, []])('details %j is not an object', (details) => {
    expect(problemsOf('iban-sepa', details)).toEqual({ details: 'must be an object' });
  });
  it('an account number sent as a JSON number is refused, for it has lost its zeros', () => {
    expect(problemsOf('ach-us', { account_number: 123456789012 })).toHaveProperty(
      ['details.account_number'],
      'must be a string',
    );
  });
  it('an optional field sent blank is as if it was not sent', () => {
    expect(
      acceptedOf('iban-sepa', { full_name: 'Ada L', iban: 'DE89370400440532013000', bic: ' ' }),
    ).not.toHaveProperty('bic');
  });
  it('the message names each field once and no value', () => {
    const result = validateDetails(rail('iban-sepa'), { iban: 'DE00SECRET', full_name: '' });
    const message = result.ok ? '' : recipientFieldsMessage(result.problems);
    expect(message).toBe('Missing or malformed recipient fields: full_name, iban');
    expect(JSON.stringify(result)).not.toContain('SECRET');
  });
  it('lengths are counted in code points: rare Chinese characters fill a field no sooner than common ones', () => {
    const details = { account_number: '13800138000', mobile_number: '13800138000' };
    expect(problemsOf('alipay-china', { ...details, full_name: '𠀀'.repeat(60) })).toEqual({});
    expect(problemsOf('alipay-china', { ...details, full_name: '𠀀'.repeat(61) })).toHaveProperty([
      'details.full_name',
    ]);
  });
});

describe('the length cap comes before the pattern', () => {
  const sample = (field: Partial<FieldShape>): RailShape => ({
    slug: 'sample',
    countries: ['GB'],
    currencies: ['GBP'],
    fields: [{ key: 'note', type: 'text', required: true, maxLength: 30, ...field }],
  });
  // Proves trap 30.
  it('so a pattern that would take ages is not tried on a long value', () => {
    const result = validateDetails(sample({ pattern: '^(a+)+$' }), { note: `${'a'.repeat(60)}!` });
    expect(result).toEqual({
      ok: false,
      problems: [{ path: 'details.note', message: 'is longer than 30 characters' }],
    });
  });
  it('and holds where there is no pattern', () => {
    expect(validateDetails(sample({}), { note: 'b'.repeat(30) }).ok).toBe(true);
    expect(validateDetails(sample({}), { note: 'b'.repeat(31) }).ok).toBe(false);
  });
  it('and what is looked at before it is bounded too', () => {
    expect(validateDetails(sample({ format: 'iban' }), { note: ' '.repeat(10_000_000) }).ok).toBe(false);
  });
  it('a format that is not known here is plain text within its pattern', () => {
    expect(validateDetails(sample({ format: 'invented', pattern: '^[A-Z]{2}$' }), { note: 'AB' }).ok).toBe(
      true,
    );
    expect(validateDetails(sample({ format: 'invented', pattern: '^[A-Z]{2}$' }), { note: 'ABC' }).ok).toBe(
      false,
    );
  });
});
