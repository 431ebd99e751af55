/** The currencies backend as a library: what can be exchanged, through what, and at which rate. */
export * from './catalogue/index.ts';
export * from './rates/index.ts';
