import type {
  BlockchainListSchema,
  BridgeCryptoCurrencyListSchema,
  CountryListSchema,
  CryptoCurrencyNetworksSchema,
  CryptoCurrencySchema,
  CurrencyCountriesSchema,
  CurrencyListSchema,
  CurrencyMethodsSchema,
  CurrencyNetworksSchema,
  FiatCurrencyListSchema,
  Frozen,
  InstitutionListSchema,
  PaymentFieldSchema,
  PaymentMethodOptionListSchema,
  PaymentMethodSchema,
  PaymentMethodTypeListSchema,
  PaymentRailsSchema,
  RailFormatSchema,
  RailSchema,
  SupportedPairListSchema,
} from '@causeway/protocol';
import type { Static, TSchema } from 'typebox';

/**
 * What discovery answers, as the wire schemas declare it: built once for a catalogue, frozen and shared, so that routes
 * may serialise it once.
 */
type View<Schema extends TSchema> = Frozen<Static<Schema>>;

export type CryptoCurrencyView = View<typeof CryptoCurrencySchema>;
export type BlockchainView = View<typeof BlockchainListSchema>[number];
export type FiatCurrencyView = View<typeof FiatCurrencyListSchema>[number];
export type CurrencyView = View<typeof CurrencyListSchema>[number];
export type CryptoNetworkView = View<typeof BridgeCryptoCurrencyListSchema>[number];
export type CryptoWithNetworksView = View<typeof CryptoCurrencyNetworksSchema>[number];
export type CountryView = View<typeof CountryListSchema>[number];

export type PaymentFieldView = View<typeof PaymentFieldSchema>;
export type RailFormatView = View<typeof RailFormatSchema>;
export type RailView = View<typeof RailSchema>;
export type PaymentRailsView = View<typeof PaymentRailsSchema>;

export type InstitutionPageView = View<typeof InstitutionListSchema>;
export type InstitutionView = InstitutionPageView['institutions'][number];
export type Pagination = InstitutionPageView['pagination'];

export type PaymentMethodView = View<typeof PaymentMethodSchema>;
export type PaymentMethodTypeView = View<typeof PaymentMethodTypeListSchema>[number];
export type PaymentMethodOptionView = View<typeof PaymentMethodOptionListSchema>[number];
export type CurrencyMethodsView = View<typeof CurrencyMethodsSchema>['currencies'][number];
export type CurrencyNetworksView = View<typeof CurrencyNetworksSchema>['currencies'][number];
export type CurrencyCountriesView = View<typeof CurrencyCountriesSchema>['currencies'][number];
export type SupportedPairView = View<typeof SupportedPairListSchema>['pairs'][number];
