import { type TSchema, Type } from 'typebox';

/** What the wire shapes of discovery have in common. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const FiatCode = (options: object = {}) =>
  Type.String({
    description: 'ISO 4217, either case',
    pattern: '^[A-Za-z]{3}$',
    examples: ['KES'],
    ...options,
  });

export const paging = (defaultLimit: number, maxLimit: number) => ({
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, examples: [defaultLimit] }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, examples: [0] }),
});

export const Pagination = Type.Object({
  total: Type.Integer({ examples: [1] }),
  limit: Type.Integer({ examples: [20] }),
  offset: Type.Integer({ examples: [0] }),
});

export const CountryFilter = Type.Optional(
  Type.String({
    description: 'ISO 3166-1 alpha-2, either case',
    minLength: 2,
    maxLength: 2,
    examples: ['GH'],
  }),
);
export const CurrencyFilter = Type.Optional(
  Type.String({ description: 'ISO 4217, either case', minLength: 3, maxLength: 3, examples: ['GHS'] }),
);
