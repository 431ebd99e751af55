export {
  type DetailsOf,
  ERROR_CATALOGUE,
  ERROR_CODES,
  type ErrorCode,
  errorEntry,
  isErrorCode,
} from './catalogue.ts';
export {
  CausewayError,
  type CausewayErrorInit,
  errorStatus,
  type PartnerErrorBody,
  PartnerErrorResponse,
  partnerErrorResponseOf,
  SupportedErrorResponse,
  successResponseOf,
  toPartnerErrorBody,
} from './causeway-error.ts';
export { EXCLUSION_CONDITIONS, type ExclusionCondition } from './details.ts';
export type { ErrorEntry } from './error-entry.ts';
export {
  ERROR_KEY_CATALOGUE,
  ERROR_KEYS,
  type ErrorKey,
  type ErrorKeyEntry,
  type SupportedErrorBody,
  SupportedResourceError,
  supportedErrorStatus,
  toSupportedErrorBody,
} from './error-entry.ts';
