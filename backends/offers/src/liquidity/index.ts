export { aggregateLiquidity, type LiquidityContext, type LiquidityPair } from './liquidity.ts';
