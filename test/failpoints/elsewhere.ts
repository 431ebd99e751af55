/**
 * Failpoints that the walks cannot meet: the code is of another deployment, of a command, or writes only where nothing was
 * written before. Each says where it is tested instead. One that is met after all fails the run, so that the list only gets
 * shorter.
 */
export interface Elsewhere {
  readonly sites: RegExp;
  readonly reason: string;
  /** The walks pass it and would be refused by design, so that it is not armed. */
  readonly isPassed?: true;
}

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    sites: / upstream\/offers\/remote-reservations\.ts /,
    reason:
      'offers on a server of their own (OFFERS_URL): remote-reservations.test.ts, scenarios/remote-offers.test.ts',
  },
  {
    sites: / production\.ts installOperatorKey/,
    reason: 'the first start of a production deployment: faults/production-start.test.ts',
  },
  {
    sites: / features\/privacy\/rotate-keys\.ts /,
    reason: 'the command keys:rotate, which goes on where it was ended: features/privacy/privacy.test.ts',
  },
  {
    sites:
      / (upstream\/currencies\/reference\.ts seedReference|upstream\/offers\/offers-market\.ts seedSandboxMarket|features\/console\/seed-users\.ts)/,
    reason: 'the first start on an empty database, each in one transaction: faults/sandbox-start.test.ts',
  },
  {
    sites:
      / (features\/vendors\/vendor-read\.routes\.ts getVendor(Order|Profile|SigningParameters): |features\/orders\/send-out\/send-out\.ts lookForPayout)/,
    reason: 'a unit of work for one view of several rows: it writes nothing, so there is no commit to lose',
  },
  {
    sites: / upstream\/offers\/offers-in-process\.ts consume: /,
    reason: 'the port has it, the gateway ends reservations together: offers.conformance.test.ts',
  },
  {
    sites: / features\/fiat-accounts\/payments\.effect\.ts orderToPay: /,
    reason:
      'a transfer that the bank refused is tried again by an operator: scenarios/orders-own-iban.test.ts; that it is told twice changes nothing',
  },
  {
    sites: / chain\/watcher\/lost-blocks\.ts /,
    reason:
      'the command chain:resume, one transaction that changes nothing where the cursor has moved: chain/watcher/lost-blocks.test.ts',
  },
  {
    sites: / chain\/watcher\/look-back\.ts searchedFrom: /,
    reason:
      'of escrows that nobody watched for ten minutes, as after an outage: chain/watcher/watcher.test.ts',
  },
  {
    sites: / chain\/transactions\/nonce-gaps\.store\.ts insertGapFillers/,
    reason: 'of nonces that another program has left unused: chain/signers/hot-wallets.test.ts',
  },
  {
    sites: / http\/idempotency\.ts answeredBefore: /,
    reason:
      'a look for the answer that a key has, at the limit of open orders only; it writes nothing: faults/partner-isolation.test.ts',
  },
  {
    sites: / upstream\/rates\/rate-publisher\.ts stop: /,
    reason:
      'an orderly stop, after which the book is free anyway: rate-publisher.test.ts, faults/shutdown.test.ts',
  },
  {
    sites: /^after features\/widget\/sessions\.ts openSession: /,
    reason: 'a link whose answer was lost opens its session again (scenarios/widget-sessions.test.ts)',
    isPassed: true,
  },
];

/** Listed as out of reach; met all the same, the list is wrong. */
export function isOutOfReach(failpoint: string): boolean {
  return ELSEWHERE.some(({ sites, isPassed }) => isPassed === undefined && sites.test(failpoint));
}

export function isElsewhere(failpoint: string): boolean {
  return ELSEWHERE.some(({ sites }) => sites.test(failpoint));
}
