export { type AssetAmount, type Conversion, convert, convertAtomic, type RateAsset } from './convert.ts';
export { createEcbSource, ECB_DAILY_URL, type EcbSourceOptions } from './ecb.source.ts';
export {
  createExchangeTickerSource,
  type ExchangeTickerOptions,
  KRAKEN_STABLECOIN_PAIRS,
  KRAKEN_TICKER_URL,
  type TickerPair,
} from './exchange-ticker.source.ts';
export {
  DEFAULT_FRESHNESS,
  type FreshnessRule,
  type FreshnessRules,
  maxAge,
  untilNextFixing,
} from './freshness.ts';
export {
  createJsonFeedSource,
  type JsonFeedOptions,
  type JsonFeedShape,
  type JsonFeedTime,
  type JsonPath,
} from './json-feed.source.ts';
export type { QuoteFault, RejectedQuote, RejectionListener } from './quote-screen.ts';
export {
  type PolledSource,
  RateService,
  type RateServiceOptions,
  type SourceHealth,
} from './rate.service.ts';
export {
  type ObservationOutcome,
  RateBook,
  type RateBookOptions,
  type RateDecision,
  type RatePoint,
  type RateReading,
  type RateRefusal,
  type RateSnapshot,
  type UsableRate,
} from './rate-book.ts';
export {
  type MemoryHistoryOptions,
  MemoryRateHistory,
  type RateHistory,
  readRateHistory,
} from './rate-history.ts';
export type { GuardLimits, RateStatus } from './rate-leg.ts';
export type { Clock, Quote, RateSource, SourceKind } from './rate-source.port.ts';
export { RateFeedError, type RateFeedFault } from './rate-source.port.ts';
export type { Rounding } from './ratio.ts';
export { createSimulatedSource, type SimulatedSourceOptions } from './simulated.source.ts';
