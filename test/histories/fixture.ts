import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, inject } from 'vitest';
import type { ChainToken } from '../../apps/gateway/src/chain/chain-settings.ts';
import { approveRouter, fundWallets } from '../../apps/gateway/src/chain/contracts/local-deployment.ts';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { SandboxPartner } from '../../apps/gateway/src/local/sandbox-file.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { type Answer, NO_ORDER_LIMITS, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { fillOffers, type OrdersDriver, oneAtATime, ordersDriver } from '../scenarios/orders-driver.ts';
import { type OrderParties, orderParties } from '../scenarios/orders-parties.ts';
import { startThirdParty, type ThirdParty } from './third-party.ts';

export const CHAIN = 'base-mainnet';

/** A partner whose orders are led one after the other: what happens to its wallet happens to no other history. */
export interface Lane {
  readonly partner: SandboxPartner;
  readonly driver: OrdersDriver;
  call(method: string, path: string, body?: object): Promise<Answer>;
}

/** One gateway with its database and chains, and everybody who has to do with its orders. */
export interface Fixture {
  readonly gateway: TestGateway;
  readonly lanes: readonly Lane[];
  readonly parties: OrderParties;
  readonly thirdParty: ThirdParty;
  readonly tokens: readonly ChainToken[];
  /** Somebody who is no party of any order. */
  readonly payer: Hex;
  operate(method: string, path: string, body?: object): Promise<Answer>;
  /** Tokens go from one wallet to another, and are final; answers the transaction. */
  pay(payment: Payment): Promise<Hex>;
  /** Replaces the last blocks by empty ones; never so many that something final is lost. */
  reorganise(depth: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Payment {
  readonly token: Hex;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

const FUNDS = { etherWei: 10n ** 19n, wholeTokens: 10_000_000n };
const GAS = 200_000n;

export async function openFixture(laneCount: number): Promise<Fixture> {
  const settings = inject('ground').chains.find(({ slug }) => slug === CHAIN)!;
  const { tokens, chainId, confirmations } = settings;
  let node = '';
  let thirdParty: ThirdParty | undefined;
  const gateway = await startGateway({
    chains: true,
    env: {
      RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
      DEPOSIT_TOLERANCE_PCT: '0.01',
      ...NO_ORDER_LIMITS,
    },
    async nodeAddress(slug, rpcUrl) {
      if (slug !== CHAIN) return rpcUrl;
      node = rpcUrl;
      const addresses = tokens.map(({ address }) => address);
      thirdParty = await startThirdParty({ slug, chainId, node, tokens: addresses });
      return thirdParty.url;
    },
  });
  await fillOffers(gateway);
  const operate: Fixture['operate'] = (method, path, body) =>
    gateway.call(method, `/api/v1/operator/${path}`, {
      key: gateway.sandbox.operatorKey,
      ...(body ? { body } : {}),
    });
  const secrets = JSON.parse(
    await readFile(join(gateway.env.CAUSEWAY_HOME!, SECRETS_FILE), 'utf8'),
  ) as SandboxSecrets;
  const courier = privateKeyToAccount(generatePrivateKey());
  const keys = Array.from({ length: laneCount }, () => generatePrivateKey());
  await fundWallets(node, secrets.deployerKey, {
    wallets: [courier.address, ...keys.map((key) => privateKeyToAccount(key).address)],
    tokens,
    ...FUNDS,
  });
  const lanes = await Promise.all(keys.map((key, index) => openLane(gateway, operate, key, index)));
  const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
  await Promise.all([
    ...keys.map((key) => approveRouter(node, key, settings.contracts.router, tokens)),
    ...vendors.map(({ privateKey }) => approveRouter(node, privateKey, courier.address, tokens)),
  ]);
  await Promise.all(keys.map((key) => approveRouter(node, key, courier.address, tokens)));
  const inTurn = oneAtATime();

  /** The courier moves what others have allowed it to, so that no wallet of an order is used beside the service. */
  const send = ({ token, from, to, amount }: Payment): Promise<Hex> =>
    inTurn(async () => {
      const nonce = Number(await callRpc(node, 'eth_getTransactionCount', [courier.address, 'latest']));
      const fee = BigInt((await callRpc(node, 'eth_gasPrice')) as Hex);
      const data =
        from.toLowerCase() === courier.address.toLowerCase()
          ? encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, amount] })
          : encodeFunctionData({
              abi: erc20Abi,
              functionName: 'transferFrom',
              args: [from as Hex, to as Hex, amount],
            });
      const signed = await courier.signTransaction({
        type: 'eip1559',
        chainId,
        to: token,
        data,
        nonce,
        gas: GAS,
        maxFeePerGas: fee * 4n,
        maxPriorityFeePerGas: 0n,
      });
      return (await callRpc(node, 'eth_sendRawTransaction', [signed])) as Hex;
    });

  /** False where a reorganisation has undone it. */
  const becomesFinal = (hash: Hex): Promise<boolean> =>
    until('a payment to be final', async () => {
      const receipt = (await callRpc(node, 'eth_getTransactionReceipt', [hash])) as {
        status: Hex;
        blockNumber: Hex;
      } | null;
      if (receipt === null) return { isFinal: false };
      expect(receipt.status, 'a payment reverted').toBe(toQuantity(1));
      const head = Number(await callRpc(node, 'eth_blockNumber'));
      return head - Number(receipt.blockNumber) >= confirmations && { isFinal: true };
    }).then(({ isFinal }) => isFinal);

  return {
    gateway,
    lanes,
    parties: orderParties(gateway),
    thirdParty: thirdParty!,
    tokens,
    payer: courier.address,
    operate,

    async pay(payment) {
      for (;;) {
        const hash = await send(payment);
        if (await becomesFinal(hash)) return hash;
      }
    },

    async reorganise(depth) {
      await callRpc(node, 'causeway_reorg', [toQuantity(Math.min(depth, confirmations))]);
    },

    async stop() {
      await gateway.stop();
      await thirdParty?.stop();
    },
  };
}

async function openLane(
  gateway: TestGateway,
  operate: Fixture['operate'],
  key: Hex,
  index: number,
): Promise<Lane> {
  const walletAddress = privateKeyToAccount(key).address;
  const name = `Lane ${index}`;
  const opened = await operate('POST', 'partners', {
    name,
    settlement_chain: CHAIN,
    wallet_address: walletAddress,
    reason: 'a history',
  });
  expect(opened.body).toMatchObject({ success: true });
  const { secret_key, widget_key, webhook_secret } = opened.body.data;
  const partner: SandboxPartner = {
    name,
    apiKey: secret_key.key,
    widgetKey: widget_key.key,
    webhookSecret: webhook_secret,
    walletAddress,
    walletPrivateKey: key,
    fiatAccountsEnabled: false,
  };
  const call: Lane['call'] = (method, path, body) =>
    gateway.call(method, `/api/v1/${path}`, { key: partner.apiKey, ...(body ? { body } : {}) });
  const quiet = await call('PUT', 'sandbox/settings', { auto_advance: false });
  expect(quiet.body).toMatchObject({ success: true });
  return { partner, driver: ordersDriver(gateway, partner), call };
}
