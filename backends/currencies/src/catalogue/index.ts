/** Reference data and the catalogue that answers discovery from it. */
export * from './catalogue.ts';
export type * from './catalogue-views.ts';
export type { LocalChain } from './chain-listing.ts';
export { FIELD_FORMATS, type FieldFormat } from './field-formats.ts';
export type { InstitutionsQuery } from './institution-listing.ts';
export type { PaymentMethods } from './payment-methods.ts';
export type { DetailsFormat, InstitutionResolution } from './payout-rules.ts';
export type { PaymentRailsQuery } from './rail-listing.ts';
export type { HasLiquidity } from './rail-view.ts';
export { ReferenceDataError, type ReferenceProblem } from './reference-checks.ts';
export type {
  BeneficiaryType,
  Chain,
  Country,
  CryptoAsset,
  Direction,
  FiatCurrency,
  Institution,
  InstitutionType,
  PaymentField,
  Rail,
  RailFormat,
  ReferenceData,
  Token,
} from './reference-data.ts';
export { ReferenceDataSchema } from './reference-data.ts';
export { loadReferenceFiles } from './reference-files.ts';
export { parseReferenceData } from './reference-validation.ts';
export { foldText } from './text-folding.ts';
