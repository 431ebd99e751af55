/** Wire shapes of discovery: built once for a catalogue, frozen and shared, so that routes may serialise them once. */
export type CryptoCurrencyView = {
  code: string;
  name: string;
  contract: string;
  decimals: number;
  blockchains: readonly string[];
};

export type BlockchainView = {
  name: string;
  slug: string;
  ticker: string;
  crypto_currencies: readonly CryptoCurrencyView[];
};

export type FiatCurrencyView = {
  code: string;
  name: string;
  symbol: string;
  minor_units: number;
  institution_id: readonly string[];
  countries: readonly string[];
  onramp: boolean;
  offramp: boolean;
};

export type PaymentFieldView = {
  key: string;
  label: string;
  type: string;
  required: boolean;
  pattern?: string;
  placeholder?: string;
  max_length: number;
  lookup?: boolean;
  options?: readonly { code: string; name: string }[];
};

export type RailFormatView = {
  id: string;
  name: string;
  institution_types: readonly string[];
  has_liquidity?: boolean;
  beneficiary_type?: 'individual' | 'business';
  fields: readonly PaymentFieldView[];
};

export type RailView = {
  slug: string;
  name: string;
  institution_required: boolean;
  institution_lookup_key: string | null;
  currencies: readonly string[];
  countries: readonly string[];
  directions: readonly string[];
  settlement: { speed: string; typical_minutes: number; note: string | null } | null;
  limits: {
    min_amount: number | null;
    max_amount: number | null;
    max_per_transaction: number | null;
  } | null;
  fields: readonly PaymentFieldView[];
  require_one_of?: readonly (readonly string[])[];
  formats?: readonly RailFormatView[];
};

export type PaymentRailsView = {
  country: string | null;
  currency: string | null;
  direction: 'onramp' | 'offramp';
  rails: readonly RailView[];
  links: Readonly<Record<string, string>>;
};

export type InstitutionView = {
  id: string;
  payment_method_id?: number;
  payment_network_id?: number;
  name: string;
  type: string;
  institution_type: string;
  code?: string;
  branch: { code: string; name: string; address: string } | null;
  supported_rails: readonly string[];
};

export type Pagination = { total: number; limit: number; offset: number };
export type InstitutionPageView = { institutions: readonly InstitutionView[]; pagination: Pagination };

export type CurrencyView = {
  code: string;
  numeric_code: string;
  name: string;
  symbol: string;
  minor_units: number;
  countries: readonly string[];
};

export type CryptoNetworkView = {
  code: string;
  name: string;
  blockchain: string;
  chain_id: number;
  contract: string;
  decimals: number;
};

export type CryptoWithNetworksView = {
  code: string;
  name: string;
  networks: readonly Omit<CryptoNetworkView, 'code' | 'name'>[];
};

export type CountryView = {
  code: string;
  alpha3: string;
  name: string;
  calling_code: string;
  currencies: readonly { code: string; name: string; symbol: string; minor_units: number }[];
};

export type PaymentMethodView = {
  id: number;
  slug: string;
  name: string;
  type: string;
  institution_type: string;
  code?: string;
  countries: readonly string[];
  fiat_currencies: readonly string[];
  payment_networks: readonly string[];
  active: boolean;
};

export type PaymentMethodTypeView = { slug: string; name: string; type: string; payment_methods: number };

export type PaymentMethodOptionView = {
  id: string;
  payment_method_id: number;
  payment_method_slug: string;
  payment_network_id: number;
  payment_network_slug: string;
  fiat_currency_code: string;
  countries: readonly string[];
  active: boolean;
};

type MethodRef = { id: number; slug: string; name: string };

export type CurrencyMethodsView = {
  fiat_currency_code: string;
  payment_methods: readonly (MethodRef & { payment_networks: readonly MethodRef[] })[];
};

export type CurrencyNetworksView = {
  fiat_currency_code: string;
  payment_networks: readonly (MethodRef & { payment_methods: readonly MethodRef[] })[];
};

export type SupportedPairView = {
  crypto_currency_code: string;
  fiat_currency_code: string;
  blockchains: readonly string[];
  payment_networks: readonly string[];
  onramp: boolean;
  offramp: boolean;
};

export type CurrencyCountriesView = {
  fiat_currency_code: string;
  countries: readonly { code: string; name: string; payment_methods: readonly string[] }[];
};
