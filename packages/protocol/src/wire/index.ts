export * from './common.ts';
export * from './events.ts';
export * from './kyc.ts';
export * from './order.ts';
export * from './payment-details.ts';
export * from './quote.ts';
export * from './recipient.ts';
export * from './user.ts';
