export { type BestRate, bestRate } from './best-rate.ts';
export { type Exclusion, explainRefusal } from './explain-refusal.ts';
export {
  type FillContext,
  type FilledQuote,
  type FirmQuote,
  fillQuote,
  firmQuote,
  type QuotedVendorObstacle,
} from './fill-quote.ts';
export * from './match.types.ts';
export { matchOffer } from './match-offer.ts';
