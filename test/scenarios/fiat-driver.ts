import { expect } from 'vitest';
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
  call: TestGateway['call'];
}

export const EURO = { currency: 'EUR', jurisdiction: 'DE' };

export function fiatDriver(gateway: TestGateway, partner = gateway.partners[0]): FiatDriver {
  const call: FiatDriver['call'] = (method, path, options) =>
    gateway.call(method, path, { key: partner.apiKey, ...options });
  const user = (userId: string) => `/api/v1/partner/users/${userId}`;

  const driver: FiatDriver = {
    call,

    async verified(lastName = 'Lovelace') {
      const email = `f${Math.random().toString(36).slice(2)}@example.com`;
      const made = await call('POST', '/api/v1/partner/users', {
        body: { email, first_name: 'Ada', last_name: lastName },
      });
      const id = made.body.data.id as string;
      await call('POST', `/api/v1/sandbox/users/${id}/kyc-status`, { body: { status: 'VERIFIED' } });
      return id;
    },

    async customer(lastName = 'Lovelace') {
      const id = await driver.verified(lastName);
      const submitted = await call('POST', `${user(id)}/identification`, {
        body: { ...IDENTIFICATION, last_name: lastName },
      });
      expect(submitted.body).toMatchObject({ success: true });
      await until('the bank’s approval', async () => {
        const { body } = await call('GET', `${user(id)}/identification`);
        return body.data.status === 'approved';
      });
      return id;
    },

    issue: (userId, body = EURO) => call('POST', `${user(userId)}/fiat-accounts`, { body }),

    async account(userId, requested = EURO) {
      const issued = await driver.issue(userId, requested);
      expect(issued.body).toMatchObject({ success: true });
      const { id } = issued.body.data;
      await until('an open account', async () => {
        const { body } = await call('GET', `${user(userId)}/fiat-accounts/${id}`);
        return body.data.status === 'active';
      });
      return id as string;
    },

    deposit: (userId, accountId, body) =>
      call('POST', `/api/v1/sandbox/users/${userId}/fiat-accounts/${accountId}/deposits`, { body }),

    payments: async (userId, accountId) =>
      (await call('GET', `${user(userId)}/fiat-accounts/${accountId}/payments?limit=100`)).body.data.payments,

    ledger: async (userId, accountId) =>
      (await call('GET', `${user(userId)}/fiat-accounts/${accountId}/ledger?limit=100`)).body.data,
  };
  return driver;
}
