import { privateKeySigner, signRefund, signRelease, signTransfer, type Trust } from '@causeway/sdk/signing';
import { createWalletClient, getAddress, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { SandboxPartner } from '../../apps/gateway/src/local/sandbox-file.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';

const CHAIN = 'base-mainnet';
const SESSION = '/api/v1/widget/session';

// biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
export type Wire = any;

/** A person at the widget: a session of its own and a wallet that nobody else has. */
export interface WidgetCustomer {
  readonly token: string;
  readonly key: `0x${string}`;
  readonly wallet: `0x${string}`;
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer>;
  quote(side: 'onramp' | 'offramp', fields?: object): Promise<Wire>;
  open(side: 'onramp' | 'offramp', fields?: object): Promise<Wire>;
  read(orderId: string): Promise<Wire>;
  act(orderId: string, action: string, body?: object): Promise<Answer>;
  /** Waits for what the order asks of the customer. */
  asked(orderId: string, phase: string): Promise<Wire>;
  signedTransfer(orderId: string, key?: string): Promise<object>;
  /** Sends the approvals that the wallet is asked for, as many as it takes; answers how many they were. */
  approve(orderId: string): Promise<number>;
  /** Approves, signs and submits. */
  pay(orderId: string): Promise<Answer>;
  signedPayout(orderId: string, purpose: 'refund' | 'release', key?: string): Promise<{ signature: string }>;
}

export interface WidgetPeople {
  /** A verified customer of the partner in a session that the partner’s server has made. */
  arrive(
    start?: object,
    more?: { readonly userId?: string; readonly usdc?: bigint },
  ): Promise<WidgetCustomer>;
  readonly userId: (email?: string) => Promise<string>;
}

/** `payer` gives them their USDC; a wallet that nothing else uses at the same time. */
export function widgetPeople(gateway: TestGateway, partner: SandboxPartner, payer = partner): WidgetPeople {
  const { settings, client } = gateway.deps.chains.get(CHAIN);
  const chain = chainDriver(gateway);
  const sdk = gateway.sdk(partner.apiKey);
  const request = (method: string, path: string, key: string | null, body?: object) =>
    gateway.call(method, path, { key, ...(body === undefined ? {} : { body }) });

  async function userId(): Promise<string> {
    const email = `w${Math.random().toString(36).slice(2)}@example.com`;
    const { id } = await sdk.users.create({ email, first_name: 'Ada', last_name: 'Lovelace' });
    await sdk.sandbox.kycStatus(id, { status: 'VERIFIED' });
    return id;
  }

  async function detailsOf(user: string): Promise<number> {
    const { id } = await sdk.paymentDetails.create(user, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    });
    return id;
  }

  async function arrive(start: object = {}, more: { userId?: string; usdc?: bigint } = {}) {
    const user = more.userId ?? (await userId());
    const made = await request('POST', '/api/v1/partner/widget-sessions', partner.apiKey, {
      user_uuid: user,
      ...start,
    });
    expect(made.body).toMatchObject({ success: true });
    const { session_id: sessionId, url } = made.body.data;
    const opened = await request('POST', `/api/v1/widget/sessions/${sessionId}/token`, null, {
      code: new URL(url).hash.slice(1),
    });
    expect(opened.body).toMatchObject({ success: true });
    const key = generatePrivateKey();
    const wallet = privateKeyToAccount(key).address;
    if (more.usdc !== undefined) {
      await callRpc(settings.rpcUrl, 'hardhat_setBalance', [wallet, toQuantity(10 ** 18)]);
      await chain.transfer(payer.walletPrivateKey, wallet, more.usdc);
    }
    return customer(opened.body.data.token, user, key, wallet);
  }

  function customer(token: string, user: string, key: `0x${string}`, wallet: `0x${string}`): WidgetCustomer {
    const ask = (method: string, path: string, body?: object) => request(method, SESSION + path, token, body);
    const data = async (answer: Promise<Answer>): Promise<Wire> => {
      const { body, text } = await answer;
      expect(body, text).toMatchObject({ success: true });
      return body.data;
    };

    /** What the widget itself holds a signature against. */
    async function held(orderId: string) {
      const order = await one.read(orderId);
      const { trust, chain_id } = await data(ask('GET', `/orders/${orderId}/funding`));
      const { service, seller, buyer, treasury, partner: feeWallet, contracts } = trust;
      const known: Trust = {
        ...{ chainId: chain_id, contracts, wallet, service, treasury },
        ...(feeWallet === null ? {} : { partner: feeWallet }),
        tokens: Object.fromEntries(settings.tokens.map((token) => [token.code, token])),
      };
      return { order, owners: { service, seller, buyer }, trust: known };
    }

    const one: WidgetCustomer = {
      token,
      key,
      wallet,
      ask,

      async quote(side, fields = {}) {
        const own = side === 'onramp' ? {} : { payment_details_id: await detailsOf(user) };
        const asked = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' };
        return data(ask('POST', '/quotes', { side, ...asked, ...own, ...fields }));
      },

      async open(side, fields) {
        const { quote_id } = await one.quote(side, fields);
        return data(ask('POST', '/orders', { quote_id, wallet_address: wallet }));
      },

      read: (orderId) => data(ask('GET', `/orders/${orderId}`)),

      act: (orderId, action, body) => ask('POST', `/orders/${orderId}/${action}`, body),

      asked: (orderId, phase) =>
        until(`order in ${phase}`, async () => {
          const order = await one.read(orderId);
          return order.phase === phase && order;
        }),

      async signedTransfer(orderId, signingKey = key) {
        const parameters = await data(ask('GET', `/orders/${orderId}/transfer-authorization-parameters`));
        const { timestamp } = await client.getBlock();
        const now = Math.max(Number(timestamp), Date.now() / 1_000);
        const reviewed = { ...(await held(orderId)), parameters, now };
        if (signingKey === key) return signTransfer(reviewed, privateKeySigner(key));
        const { forward_request } = parameters;
        const { eip712_domain: domain, types, primary_type: primaryType } = parameters;
        const account = privateKeyToAccount(signingKey as `0x${string}`);
        const signature = await account.signTypedData({
          domain,
          types,
          primaryType,
          message: forward_request,
        });
        return { forward_request, signature };
      },

      async approve(orderId) {
        for (let sent = 0; ; sent++) {
          const { approval } = await data(ask('GET', `/orders/${orderId}/funding`));
          if (approval === null) return sent;
          const sender = createWalletClient({
            account: privateKeyToAccount(key),
            chain: viemChain(settings.slug, settings.chainId, settings.rpcUrl),
            transport: http(settings.rpcUrl),
          });
          const hash = await sender.sendTransaction({ to: getAddress(approval.to), data: approval.data });
          await client.waitForTransactionReceipt({ hash });
        }
      },

      async pay(orderId) {
        await one.approve(orderId);
        return one.act(orderId, 'authorize-crypto-transfer', await one.signedTransfer(orderId));
      },

      async signedPayout(orderId, purpose, signingKey = key) {
        const parameters = await data(ask('GET', `/orders/${orderId}/${purpose}-authorization-parameters`));
        const reviewed = { ...(await held(orderId)), parameters };
        if (signingKey === key) {
          const sign = purpose === 'refund' ? signRefund : signRelease;
          return sign(reviewed, privateKeySigner(key));
        }
        const account = privateKeyToAccount(signingKey as `0x${string}`);
        return { signature: await account.signTypedData(parameters.typed_data) };
      },
    };
    return one;
  }

  return { arrive, userId };
}
