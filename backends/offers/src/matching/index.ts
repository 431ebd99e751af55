export { type BestRate, bestRate } from './best-rate.ts';
export {
  type FirmQuote,
  firmQuote,
  type HonourContext,
  type HonouredQuote,
  honourQuote,
  type QuotedVendorObstacle,
} from './honour-quote.ts';
export * from './match.types.ts';
export { matchOffer } from './match-offer.ts';
