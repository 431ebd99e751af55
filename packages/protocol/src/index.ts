/** The contract as code: wire schemas, machines, errors, failures and money. No I/O; runs in a browser. */
export * from './errors/index.ts';
export * from './failures/index.ts';
export * from './machines/index.ts';
export * from './money/index.ts';
export * from './reference/index.ts';
export * from './test-values/test-values.ts';
export * from './wire/index.ts';
