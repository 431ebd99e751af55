import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CausewayEvent, isCausewayError } from '@causeway/sdk';
import { CommandError, EXIT } from '../exit.ts';
import { userOf } from './order-steps.ts';
import type { Step } from './trigger-run.ts';

/** No order waits for it, so that it is collected. */
const DEPOSIT = '12.34';

/** Of the partner, and put back at the end: deposits that match no order go to the partner's own account. */
export const collectionOn: Step = {
  says: 'Switch the collection of deposits on, until the end',
  calls: ['operator.partners.list', 'operator.partners.update'],
  needs: ['wallet', 'operator'],
  async run(run) {
    const { file, partner: index } = await run.sandbox();
    const wallet = file.partners[index]?.wallet_address.toLowerCase();
    const { partners } = run.operator().operator;
    for await (const partner of partners.list()) {
      if (partner.wallet_address.toLowerCase() !== wallet) continue;
      const { partner_id, fiat_accounts_enabled, collection_enabled } = partner;
      const reason = 'causeway trigger';
      if (fiat_accounts_enabled && collection_enabled) return;
      run.atEnd(async () => {
        await partners.update(partner_id, { fiat_accounts_enabled, collection_enabled, reason });
      });
      await partners.update(partner_id, { fiat_accounts_enabled: true, collection_enabled: true, reason });
      return;
    }
    throw new CommandError('The operator knows no partner with your wallet.', { exitCode: EXIT.notFound });
  },
};

export const accountIssued: Step = {
  says: 'Identify the customer to the bank, and issue an account in EUR',
  calls: [
    'fiatAccounts.submitIdentification',
    'fiatAccounts.getIdentification',
    'fiatAccounts.issue',
    'fiatAccounts.get',
  ],
  async run({ partner, made, until }) {
    const user = userOf(made);
    await partner.fiatAccounts.submitIdentification(user, {
      first_name: 'Ada',
      last_name: 'Lovelace',
      date_of_birth: '1990-12-10',
      nationality: 'DE',
      address: 'Unter den Linden 1',
      city: 'Berlin',
      postal_code: '10117',
      country_code: 'DE',
    });
    await until('the bank to approve the customer', async () => {
      const { status } = await partner.fiatAccounts.getIdentification(user);
      return status === 'approved' ? status : undefined;
    });
    const { id } = await partner.fiatAccounts.issue(user, { currency: 'EUR', jurisdiction: 'DE' });
    await until('the bank to open the account', async () => {
      const { status } = await partner.fiatAccounts.get(user, id);
      return status === 'active' ? status : undefined;
    });
    made.accountId = id;
  },
};

export const depositMade: Step = {
  says: `Pay ${DEPOSIT} EUR into the account; it is collected`,
  calls: ['sandbox.deposit'],
  async run({ partner, made }) {
    await partner.sandbox.deposit(userOf(made), made.accountId ?? '', {
      amount: DEPOSIT,
      sender_name: 'Ada Lovelace',
      reference: 'causeway trigger',
    });
  },
};

/** A test event is sent to an endpoint and is in no stream: it is received here, and checked like any other. */
export const testEventReceived: Step = {
  says: 'Send a test event to an endpoint on this machine, made for it and removed again',
  calls: ['webhookEndpoints.create', 'webhookEndpoints.test', 'webhookEndpoints.delete'],
  async run({ partner, heard, atEnd }) {
    const { constructEvent } = await import('@causeway/sdk/webhooks');
    let secret = '';
    const server = createServer(async (request, response) => {
      try {
        const body = Buffer.concat(await request.toArray());
        const event: CausewayEvent = await constructEvent(body, request.headers, secret);
        response.writeHead(204).end();
        heard(event);
      } catch {
        response.writeHead(400).end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(async () => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const made = await partner.webhookEndpoints.create({
      url: `http://127.0.0.1:${port}/`,
      // No other event than the test goes there: tests are sent whatever the filter.
      events: ['retail.settlement.completed'],
    });
    ({ secret } = made);
    atEnd(async () => void (await partner.webhookEndpoints.delete(made.id)));
    try {
      await partner.webhookEndpoints.test(made.id);
    } catch (error) {
      if (!isCausewayError(error, 'WEBHOOK_DELIVERY_FAILED')) throw error;
      throw new CommandError(
        'The sandbox cannot reach this machine, so that its test event is not seen here.',
        {
          exitCode: EXIT.unavailable,
          hint: 'Run this command on the machine of the sandbox.',
        },
      );
    }
  },
};

export const testEventSent: Step = {
  says: 'Send one to your own webhook as well, where you have set one',
  calls: ['webhooks.get', 'webhooks.test'],
  async run({ partner, note }) {
    const { url, enabled } = await partner.webhooks.get();
    if (url === null || !enabled) return;
    try {
      await partner.webhooks.test();
    } catch (error) {
      if (!isCausewayError(error, 'WEBHOOK_DELIVERY_FAILED')) throw error;
      note(`Your own webhook ${url} did not accept it.`);
    }
  },
};
