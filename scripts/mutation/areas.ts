/** A part of the code that is changed on purpose, one small change (mutant) at a time, and the tests that must notice. */
export interface MutationArea {
  /** Files that are changed: names and patterns; one that begins with `!` leaves files out. */
  readonly mutate: readonly string[];
  /** Tests that need neither a database nor a chain: they run again for every mutant. */
  readonly tests: readonly string[];
  /** Kinds of change that are left out, by Stryker's names of them. */
  readonly without: readonly string[];
}

const GATEWAY = 'apps/gateway/src';
const MACHINES = 'packages/protocol/src/machines';
const MONEY = 'packages/protocol/src/money';
const OFFERS = 'backends/offers/src';
const SDK = 'packages/sdk/src';

const DECIDING = 'decide,caller-actions,customer-phase,order-actions,order-reasons,order-statuses';

export const AREAS: Readonly<Record<string, MutationArea>> = {
  signatures: {
    mutate: [
      `${SDK}/webhooks/construct-event.ts`,
      `${GATEWAY}/lib/{crypto,totp}.ts`,
      `${GATEWAY}/chain/signers/signature.ts`,
      `${GATEWAY}/features/kyc/provider/callbacks.ts`,
    ],
    tests: [
      `${SDK}/webhooks/*.test.ts`,
      `${GATEWAY}/lib/{crypto,totp}.test.ts`,
      `${GATEWAY}/chain/signers/signature.test.ts`,
      `${GATEWAY}/features/kyc/provider/*.test.ts`,
    ],
    without: ['StringLiteral'],
  },
  money: {
    mutate: [`${MONEY}/*.ts`, `!${MONEY}/*.test.ts`],
    tests: [`${MONEY}/*.test.ts`],
    without: [],
  },
  machines: {
    mutate: [`${MACHINES}/{${DECIDING}}.ts`],
    tests: [`${MACHINES}/*.test.ts`],
    without: [],
  },
  matching: {
    mutate: [
      `${OFFERS}/matching/{match-offer,price-request,rail-choice,servable-range,fill-quote,best-rate}.ts`,
      `${OFFERS}/book/{customer-rate,pair-index}.ts`,
      `${GATEWAY}/features/fiat-accounts/deposit-matching.ts`,
    ],
    tests: [
      `${OFFERS}/{matching,book}/*.test.ts`,
      `${GATEWAY}/features/fiat-accounts/deposit-matching.test.ts`,
    ],
    without: [],
  },
  // What a partner's program checks before it signs. Most of its text tells a person what was found.
  signing: {
    mutate: [`${SDK}/signing/{review,vendor,typed-data,escrow}.ts`],
    tests: [`${SDK}/signing/*.test.ts`],
    without: ['StringLiteral'],
  },
  // Each mutant is in a table that is read when the module loads, so every test runs for it. Left out: strings, which are
  // words of the types or text for people, and objects, where a row without its fields does not load.
  tables: {
    mutate: [
      `${MACHINES}/*.machine.ts`,
      `${MACHINES}/{onramp,offramp}-stops.ts`,
      `${MACHINES}/order-{holds,disputes,facts}.ts`,
    ],
    tests: [`${MACHINES}/*.test.ts`],
    without: ['StringLiteral', 'ObjectLiteral'],
  },
};

export const SCORE_TARGET = 85;
