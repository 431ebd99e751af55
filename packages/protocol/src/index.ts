/** The contract as code: wire schemas, machines, errors and money. No I/O; runs in a browser. */
export * from './errors/index.ts';
export * from './machines/index.ts';
export * from './money/index.ts';
export * from './reference/index.ts';
export * from './wire/index.ts';
