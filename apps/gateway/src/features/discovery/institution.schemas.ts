import { Type } from 'typebox';
import { CountryFilter, CurrencyFilter, Nullable, Pagination } from './schema-parts.ts';

/** Wire shapes of the institutions listing, with examples that a test validates against them. */
export const Institutions = Type.Object(
  {
    institutions: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Pass it as institution_id', examples: ['mtn-momo-ghana'] }),
        payment_method_id: Type.Optional(
          Type.Integer({ format: 'int64', description: 'Left out in the imps-neft-india directory' }),
        ),
        payment_network_id: Type.Optional(
          Type.Integer({
            format: 'int64',
            description: 'The queried rail; left out in the imps-neft-india directory',
          }),
        ),
        name: Type.String({ examples: ['MTN MoMo Ghana'] }),
        type: Type.String({ description: 'BANK, WALLET', examples: ['WALLET'] }),
        institution_type: Type.String({ examples: ['mobile-money'] }),
        code: Type.Optional(
          Type.String({
            description: 'IFSC prefix, NIBSS code, reference BIC … depending on the rail',
            examples: ['MTN'],
          }),
        ),
        branch: Nullable(Type.Object({ code: Type.String(), name: Type.String(), address: Type.String() })),
        supported_rails: Type.Array(Type.String(), { examples: [['ghana-transfer']] }),
      }),
    ),
    pagination: Pagination,
  },
  {
    examples: [
      {
        institutions: [
          {
            id: 'mtn-momo-ghana',
            payment_method_id: 1810,
            payment_network_id: 9,
            name: 'MTN MoMo Ghana',
            type: 'WALLET',
            institution_type: 'mobile-money',
            code: 'MTN',
            branch: null,
            supported_rails: ['ghana-transfer'],
          },
        ],
        pagination: { total: 1, limit: 20, offset: 0 },
      },
    ],
  },
);

export const InstitutionsQuery = Type.Object({
  rail: Type.String({ description: 'Rail slug', maxLength: 80, examples: ['ghana-transfer'] }),
  institution_id: Type.Optional(Type.String({ maxLength: 80, examples: ['mtn-momo-ghana'] })),
  country: CountryFilter,
  currency: CurrencyFilter,
  search: Type.Optional(
    Type.String({
      description: 'Part of the name; case and accents do not matter',
      maxLength: 100,
      examples: ['mtn'],
    }),
  ),
  code: Type.Optional(
    Type.String({
      description: 'Bank code: IFSC prefix for imps-neft-india, NIBSS code for nip-nigeria',
      maxLength: 32,
      examples: ['MTN'],
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, examples: [0] })),
});
