import { Type } from 'typebox';
import { FiatCode, Pagination, paging } from './schema-parts.ts';

/** Pass-through wire shapes of payment methods, with examples that a test validates against them. */
const Slug = (example: string) => Type.String({ minLength: 1, maxLength: 80, examples: [example] });

export const PaymentMethod = Type.Object(
  {
    id: Type.Integer({ examples: [1810] }),
    slug: Type.String({ examples: ['mtn-momo-ghana'] }),
    name: Type.String({ examples: ['MTN MoMo Ghana'] }),
    type: Type.String({ description: 'BANK, WALLET', examples: ['WALLET'] }),
    institution_type: Type.String({ examples: ['mobile-money'] }),
    code: Type.Optional(Type.String({ examples: ['MTN'] })),
    countries: Type.Array(Type.String(), { examples: [['GH']] }),
    fiat_currencies: Type.Array(Type.String(), { examples: [['GHS']] }),
    payment_networks: Type.Array(Type.String(), {
      description: 'Rail slugs',
      examples: [['ghana-transfer']],
    }),
    active: Type.Boolean({ description: 'Whether any of its options is live' }),
  },
  {
    examples: [
      {
        id: 1810,
        slug: 'mtn-momo-ghana',
        name: 'MTN MoMo Ghana',
        type: 'WALLET',
        institution_type: 'mobile-money',
        code: 'MTN',
        countries: ['GH'],
        fiat_currencies: ['GHS'],
        payment_networks: ['ghana-transfer'],
        active: true,
      },
    ],
  },
);

export const PaymentMethodPage = Type.Object({
  payment_methods: Type.Array(PaymentMethod),
  pagination: Pagination,
});

export const PaymentMethodsQuery = Type.Object({
  ...paging(20, 100),
  type: Type.Optional(Type.Union([Type.Literal('BANK'), Type.Literal('WALLET')], { examples: ['WALLET'] })),
  country: Type.Optional(
    Type.String({ description: 'ISO 3166-1 alpha-2', pattern: '^[A-Za-z]{2}$', examples: ['GH'] }),
  ),
});
export const PageQuery = Type.Object(paging(20, 100));

const MAX_ID = 2_147_483_647;
export const PaymentMethodId = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: MAX_ID, examples: [1810] }),
});
export const PaymentMethodSlug = Type.Object({ slug: Slug('mtn-momo-ghana') });
export const FiatCodeParams = Type.Object({ fiat_currency_code: FiatCode({ examples: ['GHS'] }) });
export const NetworkAndFiatParams = Type.Object({
  network_slug: Slug('ghana-transfer'),
  fiat_currency_code: FiatCode({ examples: ['GHS'] }),
});

export const PaymentMethodTypes = Type.Array(
  Type.Object({
    slug: Type.String({ examples: ['mobile-money'] }),
    name: Type.String({ examples: ['Mobile money'] }),
    type: Type.String({ examples: ['WALLET'] }),
    payment_methods: Type.Integer({ description: 'How many there are', examples: [40] }),
  }),
  { examples: [[{ slug: 'mobile-money', name: 'Mobile money', type: 'WALLET', payment_methods: 40 }]] },
);

const PaymentMethodOption = Type.Object(
  {
    id: Type.String({ examples: ['1810:9:GHS'] }),
    payment_method_id: Type.Integer({ examples: [1810] }),
    payment_method_slug: Type.String({ examples: ['mtn-momo-ghana'] }),
    payment_network_id: Type.Integer({ examples: [9] }),
    payment_network_slug: Type.String({ examples: ['ghana-transfer'] }),
    fiat_currency_code: Type.String({ examples: ['GHS'] }),
    countries: Type.Array(Type.String(), { examples: [['GH']] }),
    active: Type.Boolean(),
  },
  {
    examples: [
      {
        id: '1810:9:GHS',
        payment_method_id: 1810,
        payment_method_slug: 'mtn-momo-ghana',
        payment_network_id: 9,
        payment_network_slug: 'ghana-transfer',
        fiat_currency_code: 'GHS',
        countries: ['GH'],
        active: true,
      },
    ],
  },
);
export const PaymentMethodOptions = Type.Array(PaymentMethodOption);
export const PaymentMethodOptionPage = Type.Object({
  options: Type.Array(PaymentMethodOption),
  pagination: Pagination,
});
