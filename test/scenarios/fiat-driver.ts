import type { Causeway } from '@causeway/sdk';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

/** Everything that the bank wants to know of somebody. */
export const IDENTIFICATION = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1990-12-10',
  nationality: 'DE',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
  country_code: 'DE',
};

/** A partner's engineer who gives customers accounts, and somebody who pays into them. */
export interface FiatDriver {
  /** VERIFIED, and unknown to the bank. */
  verified(lastName?: string): Promise<string>;
  /** VERIFIED, and approved by the bank. */
  customer(lastName?: string): Promise<string>;
  issue(userId: string, body?: object): Promise<Answer>;
  /** The id of an account that can be paid into. */
  account(userId: string, requested?: object): Promise<string>;
  deposit(userId: string, accountId: string, body: object): Promise<Answer>;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
  payments(userId: string, accountId: string): Promise<any[]>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ledger(userId: string, accountId: string): Promise<any>;
  readonly sdk: Causeway;
}

export const EURO = { currency: 'EUR', jurisdiction: 'DE' };

export function fiatDriver(gateway: TestGateway, partner = gateway.partners[0]): FiatDriver {
  const sdk = gateway.sdk(partner.apiKey);
  const answers = gateway.as(partner.apiKey);

  const driver: FiatDriver = {
    sdk,

    async verified(lastName = 'Lovelace') {
      const email = `f${Math.random().toString(36).slice(2)}@example.com`;
      const { id } = await sdk.users.create({ email, first_name: 'Ada', last_name: lastName });
      await sdk.sandbox.kycStatus(id, { status: 'VERIFIED' });
      return id;
    },

    async customer(lastName = 'Lovelace') {
      const id = await driver.verified(lastName);
      await sdk.fiatAccounts.submitIdentification(id, { ...IDENTIFICATION, last_name: lastName });
      await until(
        'the bank’s approval',
        async () => (await sdk.fiatAccounts.getIdentification(id)).status === 'approved',
      );
      return id;
    },

    issue: (userId, body = EURO) => answers.fiatAccounts.issue(userId, body as never),

    async account(userId, requested = EURO) {
      const { id } = await sdk.fiatAccounts.issue(userId, requested as typeof EURO);
      await until(
        'an open account',
        async () => (await sdk.fiatAccounts.get(userId, id)).status === 'active',
      );
      return id;
    },

    deposit: (userId, accountId, body) => answers.sandbox.deposit(userId, accountId, body as never),

    payments: async (userId, accountId) =>
      (await sdk.fiatAccounts.payments(userId, accountId, { limit: 100 })).payments,

    ledger: (userId, accountId) => sdk.fiatAccounts.ledger(userId, accountId, { limit: 100 }),
  };
  return driver;
}
