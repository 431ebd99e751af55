export * from './common.ts';
export * from './events.ts';
export * from './order.ts';
export * from './quote.ts';
export * from './user.ts';
