/** The offers backend as a library: who offers what, who serves a request best, and what there is in all. */
export * from './book/index.ts';
export * from './liquidity/liquidity.ts';
export * from './matching/index.ts';
export * from './sandbox/sandbox-offers.ts';
export * from './wire/index.ts';
