export { customerRate, RATE_SIGNIFICANT_DIGITS } from './customer-rate.ts';
export * from './offer.ts';
export { OfferBook, type OfferChanges } from './offer-book.ts';
export type { OfferPrice, OfferProblem, OfferTerms } from './offer-terms.ts';
export type { Candidate, CandidateList, Ineligibility, PairIndex } from './pair-index.ts';
