import { isTerminal, ORDER_MACHINES, type OrderDirection } from '@causeway/protocol';
import {
  privateKeySigner,
  signRefund,
  signTransfer,
  type Trust,
  trustOfSandbox,
} from '@causeway/sdk/signing';
import type { Random } from '../fuzz/random.ts';
import type { Answer } from '../harness/call.ts';
import { until } from '../harness/until.ts';
import { EURO, IDENTIFICATION } from '../scenarios/fiat-driver.ts';
import { oneAtATime } from '../scenarios/orders-driver.ts';
import { CHAIN, type Deployment } from './deployment.ts';
import { type Client, type Journal, journalingClient } from './journal.ts';

/** What a lane of the load does next. */
export const FLOWS = ['onramp', 'onramp cancelled', 'offramp', 'offramp refunded', 'deposit'] as const;
export type Flow = (typeof FLOWS)[number];

/** What the load has made, to be found again on all sides. */
export interface Made {
  readonly orders: { readonly orderId: string; readonly flow: Flow; readonly partner: number }[];
  readonly deposits: { readonly paymentId: string; readonly amount: string }[];
}

export interface Load {
  readonly made: Made;
  /** Of each partner, the address that its webhooks go to. */
  listenAt(urls: readonly [string, string]): Promise<void>;
  /** Flows one after the other in so many lanes, until stopped; what was begun is brought to its end. */
  run(random: Random, lanes: number): { stop(): Promise<void> };
  /** The payments into the account of the load. */
  payments(): Promise<readonly { id: string; amount: string; status: string }[]>;
}

interface Partner {
  readonly client: Client;
  readonly trust: Trust;
  readonly signer: ReturnType<typeof privateKeySigner>;
  readonly inTurn: ReturnType<typeof oneAtATime>;
  readonly userId: string;
  readonly detailsId: number;
}

/** The second partner's orders do not advance by themselves: they are funded and then taken back. */
const AUTOMATIC = 0;
const BY_HAND = 1;
const IBAN = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };
const LONGEST_FLOW_MS = 240_000;

export async function prepareLoad(deployment: Deployment, journal: Journal): Promise<Load> {
  const partners = await Promise.all([AUTOMATIC, BY_HAND].map((n) => openPartner(deployment, journal, n)));
  const [first, second] = partners as [Partner, Partner];
  await expectDone(second.client.write('sandbox/settings', { auto_advance: false }, 'PUT'));
  const account = await openAccount(first);
  const made: Made = { orders: [], deposits: [] };
  let deposits = 0;

  async function play(flow: Flow): Promise<void> {
    if (flow === 'deposit') {
      const transactionId = `crash-${deposits++}`;
      const amount = `${10 + (deposits % 90)}.${10 + (deposits % 80)}`;
      const body = { amount, transaction_id: transactionId };
      const payment = await expectDone(first.client.write(`sandbox/${account}/deposits`, body));
      made.deposits.push({ paymentId: payment.id, amount });
      return;
    }
    const direction = flow.startsWith('onramp') ? 'onramp' : 'offramp';
    const index = flow === 'offramp refunded' ? BY_HAND : AUTOMATIC;
    const partner = partners[index] as Partner;
    const orderId = await openOrder(partner, direction);
    made.orders.push({ orderId, flow, partner: index });
    await leadToItsEnd(partner, orderId, direction, flow);
  }

  return {
    made,
    async listenAt(urls) {
      for (const [index, url] of urls.entries()) {
        await expectDone((partners[index] as Partner).client.write('partner/webhooks', { url }));
      }
    },
    run(random, lanes) {
      let isStopping = false;
      const lane = async () => {
        while (!isStopping) await play(random.pick(FLOWS));
      };
      const running = Promise.all(Array.from({ length: lanes }, lane));
      // Told when the load is stopped.
      running.catch(() => undefined);
      return {
        async stop() {
          isStopping = true;
          await running;
        },
      };
    },
    async payments() {
      const found = [];
      for (let page = 1; ; page++) {
        const { body } = await first.client.read(`partner/${account}/payments?limit=100&page=${page}`);
        found.push(...body.data.payments);
        if (found.length >= body.data.pagination.total) return found;
      }
    },
  };
}

async function openPartner({ apiUrls, sandbox }: Deployment, journal: Journal, index: number) {
  const { api_key, wallet_private_key } = sandbox.partners[index];
  const client = journalingClient(apiUrls, api_key, journal);
  const user = await expectDone(
    client.write('partner/users', {
      email: `load-${index}@example.com`,
      first_name: 'Ada',
      last_name: 'Lovelace',
    }),
  );
  await expectDone(client.write(`sandbox/users/${user.id}/kyc-status`, { status: 'VERIFIED' }));
  const details = await expectDone(
    client.write(`partner/users/${user.id}/payment-details`, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE', details: IBAN },
    }),
  );
  return {
    client,
    trust: trustOfSandbox(sandbox, { partner: index, chain: CHAIN }),
    signer: privateKeySigner(wallet_private_key),
    inTurn: oneAtATime(),
    userId: user.id as string,
    detailsId: details.id as number,
  };
}

/** A customer of its own pays in, so that no deposit is taken for an order. */
async function openAccount({ client }: Partner): Promise<string> {
  const customer = await expectDone(client.write('partner/users', { email: 'holder@example.com' }));
  await expectDone(client.write(`sandbox/users/${customer.id}/kyc-status`, { status: 'VERIFIED' }));
  const path = `partner/users/${customer.id}`;
  await expectDone(client.write(`${path}/identification`, IDENTIFICATION));
  await until('the bank’s approval', async () => {
    const { body } = await client.read(`${path}/identification`);
    return body.data?.status === 'approved';
  });
  const { id } = await expectDone(client.write(`${path}/fiat-accounts`, EURO));
  await until('an open account', async () => {
    const { body } = await client.read(`${path}/fiat-accounts/${id}`);
    return body.data?.status === 'active';
  });
  return `users/${customer.id}/fiat-accounts/${id}`;
}

async function openOrder({ client, userId, detailsId }: Partner, direction: OrderDirection): Promise<string> {
  const quote = await expectDone(
    client.write(`partner/${direction}/quote`, {
      ...{ user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '50.00' },
      ...{ partner_fee_pct: '1', provider_scope: 'p2p' },
      ...(direction === 'offramp' ? { payment_details_id: detailsId } : {}),
    }),
  );
  const order = await expectDone(client.write(`partner/${direction}/initiate`, { quote_id: quote.quote_id }));
  return order.order_id;
}

/** What the partner has to do in each status; each thing once, unless it was refused. */
async function leadToItsEnd(
  partner: Partner,
  orderId: string,
  direction: OrderDirection,
  flow: Flow,
): Promise<void> {
  const { client } = partner;
  const path = `partner/orders/${orderId}`;
  const done = new Set<string>();
  const act = async (action: string, work: () => Promise<Answer>) => {
    if (done.has(action)) return;
    const { status } = await work();
    if (status === 200) done.add(action);
  };
  const post = (action: string) => act(action, () => client.write(`${path}/${action}`, {}));
  await until(
    `the end of ${flow} ${orderId}`,
    async () => {
      const order = (await client.read(path)).body.data;
      const isOver = isTerminal(ORDER_MACHINES[direction], order.status);
      if (isOver && (await isEmpty(client, path))) return true;
      if (order.allowed_actions.includes('authorize-refund')) {
        await act('authorize-refund', () => signed(partner, orderId, 'refund'));
      } else if (order.allowed_actions.includes('cancel')) {
        const isPaid = order.status === 'crypto_received';
        if (flow === 'onramp cancelled' || (flow === 'offramp refunded' && isPaid)) await post('cancel');
      }
      if (order.status === 'awaiting_fiat_transfer') await post('confirm-payment-sent');
      if (order.status === 'awaiting_fiat_received_confirmation') await post('confirm-fiat-received');
      if (order.status === 'awaiting_crypto_transfer_authorization') {
        await act('fund', () => partner.inTurn(() => signed(partner, orderId, 'transfer')));
      }
      return false;
    },
    LONGEST_FLOW_MS,
  );
}

/** A cancelled order ends when what was paid in has been paid back. */
async function isEmpty(client: Client, path: string): Promise<boolean> {
  const { escrow } = (await client.read(`${path}/funds`)).body.data;
  return ['none', 'emptied', undefined].includes(escrow?.state);
}

async function signed(partner: Partner, orderId: string, what: 'transfer' | 'refund'): Promise<Answer> {
  const { client, trust, signer } = partner;
  const path = `partner/orders/${orderId}`;
  const parameters = await client.read(`${path}/${what}-authorization-parameters`);
  if (parameters.status !== 200) return parameters;
  const [order, funds] = await Promise.all([client.read(path), client.read(`${path}/funds`)]);
  const { owners } = funds.body.data.escrow;
  const held = { order: order.body.data, owners, trust, shortfall: '0', parameters: parameters.body.data };
  const body =
    what === 'transfer'
      ? await signTransfer({ ...held, now: Date.now() / 1_000 }, signer)
      : await signRefund(held, signer);
  return client.write(`${path}/authorize-${what === 'transfer' ? 'crypto-transfer' : what}`, body);
}

/** For what is refused only by mistake of the load. */
async function expectDone(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body, text } = await answer;
  if (status !== 200) throw new Error(`the load was refused: ${status} ${text}`);
  return body.data;
}
