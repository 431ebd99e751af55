import { type Static, Type } from 'typebox';
import { FIELD_FORMATS } from './field-formats.ts';

/**
 * The record set the catalogue is built from: the shape of the data files and of what an operator edits at run
 * time. Everything that discovery lists comes from here; nothing is written in code.
 */
const closed = { additionalProperties: false };

const Slug = Type.String({ pattern: '^[a-z0-9]+([_-][a-z0-9]+)*$', maxLength: 80 });
const CountryCode = Type.String({ pattern: '^[A-Z]{2}$' });
const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$' });
const Name = Type.String({ minLength: 1, maxLength: 140 });
const Note = Type.String({ minLength: 1, maxLength: 600 });
const Amount = Type.String({ pattern: '^[0-9]{1,15}(\\.[0-9]{1,3})?$' });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const CryptoAsset = Type.Object({ code: Type.Enum(['USDC', 'USDT', 'USDT0']), name: Name }, closed);

const Token = Type.Object(
  {
    code: Type.Enum(['USDC', 'USDT', 'USDT0']),
    address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
    live: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Chain = Type.Object(
  {
    slug: Slug,
    chainId: Type.Integer({ minimum: 1 }),
    name: Name,
    ticker: Type.String({ maxLength: 12 }),
    tokens: Type.Array(Token, { maxItems: 16 }),
  },
  closed,
);

const FiatCurrency = Type.Object(
  {
    code: CurrencyCode,
    numericCode: Type.String({ pattern: '^[0-9]{3}$' }),
    minorUnits: Type.Integer({ minimum: 0, maximum: 4 }),
    name: Name,
    symbol: Type.String({ minLength: 1, maxLength: 8 }),
    countries: Type.Array(CountryCode, { minItems: 1 }),
    live: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Country = Type.Object(
  {
    code: CountryCode,
    alpha3: Type.String({ pattern: '^[A-Z]{3}$' }),
    callingCode: Type.String({ pattern: '^[0-9]{1,4}$' }),
    name: Name,
  },
  closed,
);

const InstitutionType = Type.Object({ slug: Slug, name: Name, type: Type.Enum(['BANK', 'WALLET']) }, closed);

const Field = Type.Object(
  {
    key: Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
    label: Name,
    type: Type.Enum(['text', 'number', 'select', 'email', 'tel']),
    required: Type.Boolean(),
    pattern: Type.Optional(Type.String({ minLength: 3, maxLength: 200 })),
    placeholder: Type.Optional(Type.String({ minLength: 1, maxLength: 140 })),
    /** Every value is cut off here before its pattern is tried, so no input is long enough to be costly. */
    maxLength: Type.Integer({ minimum: 1, maximum: 255 }),
    /** What the value means beyond its pattern; never shown on the wire. */
    format: Type.Optional(Type.Enum([...FIELD_FORMATS])),
    lookup: Type.Optional(Type.Boolean()),
    options: Type.Optional(
      Type.Array(Type.Object({ code: Type.String({ minLength: 1, maxLength: 32 }), name: Name }, closed), {
        minItems: 1,
        maxItems: 100,
      }),
    ),
  },
  closed,
);

const SenderIdentity = Type.Object(
  {
    requiredFields: Type.Array(Type.String(), { minItems: 1 }),
    fieldLimits: Type.Record(Type.String(), Type.Integer({ minimum: 1 })),
  },
  closed,
);

const RailFormat = Type.Object(
  {
    id: Slug,
    name: Name,
    institutionTypes: Type.Array(Slug, { minItems: 1 }),
    beneficiaryType: Type.Optional(Type.Enum(['individual', 'business'])),
    fields: Type.Array(Field, { minItems: 1, maxItems: 30 }),
    /** A consumer-to-consumer wallet has to be told who pays, within these lengths. */
    senderIdentity: Type.Optional(SenderIdentity),
    nationalsOnly: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Relationship = Type.Enum(['self', 'family', 'friend', 'employee', 'supplier', 'customer', 'other']);

const Rail = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    slug: Slug,
    name: Name,
    institutionRequired: Type.Boolean(),
    institutionLookupKey: Nullable(Type.String({ minLength: 1, maxLength: 40 })),
    /** What an omitted institution resolves to; null where one has to be sent. */
    defaultInstitution: Nullable(Slug),
    /** The rail lists a directory of banks for information: a sent institution is ignored. */
    institutionDirectory: Type.Optional(Type.Boolean()),
    /** On-ramp the payee asks the payer for the money, so it has to be told whom to ask. */
    paymentRequest: Type.Optional(Type.Boolean()),
    currencies: Type.Array(CurrencyCode, { minItems: 1 }),
    countries: Type.Array(CountryCode, { minItems: 1 }),
    directions: Type.Array(Type.Enum(['onramp', 'offramp']), { minItems: 1, maxItems: 2 }),
    settlement: Nullable(
      Type.Object(
        {
          speed: Type.Enum(['INSTANT', 'SAME_DAY', 'NEXT_DAY', 'STANDARD']),
          typicalMinutes: Type.Integer({ minimum: 0 }),
          note: Nullable(Note),
        },
        closed,
      ),
    ),
    limits: Nullable(
      Type.Object(
        {
          minAmount: Nullable(Amount),
          maxAmount: Nullable(Amount),
          maxPerTransaction: Nullable(Amount),
        },
        closed,
      ),
    ),
    fields: Type.Optional(Type.Array(Field, { minItems: 1, maxItems: 30 })),
    formats: Type.Optional(Type.Array(RailFormat, { minItems: 1, maxItems: 12 })),
    /** Groups of fields of which at least one has to be sent. */
    requireOneOf: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2 }))),
    /** Whom a sender may pay over this rail; absent means any person. */
    relationships: Type.Optional(Type.Array(Relationship, { minItems: 1 })),
    live: Type.Optional(Type.Boolean()),
  },
  closed,
);

const institutionProperties = {
  slug: Slug,
  /** Absent for entries that are only a directory: they are not a payment method. */
  paymentMethodId: Type.Optional(Type.Integer({ minimum: 1 })),
  name: Name,
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  /** Codes that hold on one rail only, in place of `code`. */
  codes: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 20 }))),
  /** Other codes people look the institution up by. */
  alternateCodes: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 20 }))),
  branch: Type.Optional(
    Nullable(Type.Object({ code: Type.String(), name: Type.String(), address: Type.String() }, closed)),
  ),
  /** Rails the institution supports but is not live on at present. */
  suspendedRails: Type.Optional(Type.Array(Slug)),
  live: Type.Optional(Type.Boolean()),
};

const institutionGroupProperties = {
  institutionType: Slug,
  countries: Type.Array(CountryCode, { minItems: 1 }),
  supportedRails: Type.Array(Slug, { minItems: 1 }),
  directoryOnly: Type.Boolean(),
};

const Institution = Type.Object(
  {
    ...institutionProperties,
    ...institutionGroupProperties,
    directoryOnly: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Source = Type.String({ minLength: 1, maxLength: 600 });

/** One schema a data file; a file of institutions states what its entries share once. */
export const referenceFileSchemas = {
  chains: Type.Object({ source: Source, assets: Type.Array(CryptoAsset), chains: Type.Array(Chain) }, closed),
  fiatCurrencies: Type.Object({ source: Source, fiatCurrencies: Type.Array(FiatCurrency) }, closed),
  countries: Type.Object({ source: Source, countries: Type.Array(Country) }, closed),
  institutionTypes: Type.Object({ source: Source, institutionTypes: Type.Array(InstitutionType) }, closed),
  rail: Type.Object({ source: Source, ...Rail.properties }, closed),
  institutions: Type.Object(
    {
      source: Source,
      defaults: Type.Partial(Type.Object(institutionGroupProperties, closed)),
      institutions: Type.Array(
        Type.Object(
          {
            ...institutionProperties,
            institutionType: Type.Optional(Slug),
            countries: Type.Optional(institutionGroupProperties.countries),
            supportedRails: Type.Optional(institutionGroupProperties.supportedRails),
          },
          closed,
        ),
        { minItems: 1 },
      ),
    },
    closed,
  ),
};

export const ReferenceDataSchema = Type.Object(
  {
    assets: Type.Array(CryptoAsset),
    chains: Type.Array(Chain),
    fiatCurrencies: Type.Array(FiatCurrency),
    countries: Type.Array(Country),
    institutionTypes: Type.Array(InstitutionType),
    rails: Type.Array(Rail),
    institutions: Type.Array(Institution),
  },
  closed,
);

export type ReferenceData = Static<typeof ReferenceDataSchema>;
export type CryptoAsset = Static<typeof CryptoAsset>;
export type Token = Static<typeof Token>;
export type Chain = Static<typeof Chain>;
export type FiatCurrency = Static<typeof FiatCurrency>;
export type Country = Static<typeof Country>;
export type InstitutionType = Static<typeof InstitutionType>;
export type PaymentField = Static<typeof Field>;
export type RailFormat = Static<typeof RailFormat>;
export type Rail = Static<typeof Rail>;
export type Institution = Static<typeof Institution>;
export type Direction = Rail['directions'][number];
export type BeneficiaryType = 'individual' | 'business';
