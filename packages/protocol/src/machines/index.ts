export * from './authorization.machine.ts';
export * from './caller-actions.ts';
export * from './customer-phase.ts';
export {
  decide,
  defineMachine,
  factsAfter,
  guardsHold,
  isPublished,
  isTerminal,
  knowsTrigger,
  onlyMove,
  sourcesOf,
  timeoutOf,
} from './decide.ts';
export * from './deposit.machine.ts';
export * from './fiat-account.machine.ts';
export * from './fiat-payment.machine.ts';
export * from './kyc.machine.ts';
export * from './machine.types.ts';
export * from './not-machines.ts';
export { offrampMachine } from './offramp.machine.ts';
export * from './offramp-status.ts';
export { onrampMachine } from './onramp.machine.ts';
export * from './onramp-status.ts';
export * from './order-actions.ts';
export * from './order-facts.ts';
export * from './order-reasons.ts';
export * from './order-statuses.ts';
export * from './order-vocabulary.ts';
export * from './quote.machine.ts';
export * from './recipient.machine.ts';
export * from './sandbox-events.ts';
export * from './screening.machine.ts';
