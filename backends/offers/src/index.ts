/** The offers backend as a library: who offers what, who serves a request best, and what there is in all. */
export * from './book/index.ts';
export * from './liquidity/index.ts';
export * from './matching/index.ts';
export * from './sandbox/index.ts';
export * from './wire/index.ts';
