import { randomUUID } from 'node:crypto';
import { startMemoryNode } from '@causeway/local-chain/testing';
import { createTestClient, encodeAbiParameters, http, pad, publicActions, toEventSelector } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { type Address, tokenByCode } from '../chain-settings.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { type RpcProxy, startRpcProxy } from '../testing/rpc-proxy.ts';
import { tokenTransferCall } from '../token-reads.ts';
import { createTransactor } from '../transactions/transactor.ts';
import type { EscrowWatch } from '../watcher/chain-facts.ts';
import { watchEscrow } from '../watcher/watch.store.ts';
import { createWatcher } from '../watcher/watcher.ts';
import { createChainClient } from './chain-client.ts';
import type { NodeTrouble } from './rpc-failover.ts';

/**
 * Three nodes of one network: two are real and honest, the third is a node of its own that was copied from them and then
 * left behind, led onto a fork, or made to lie.
 */

const AMOUNT = 7_000_000n;
const CONFIRMATIONS = 2;
const CHAIN_ID = 31_415;

const clock = createClock();
const ids = createIdGenerator();
const logger = createLogger({ level: 'silent', format: 'json' });
const readKinds = statement<[orderId: string], { kind: string }>(
  'test.deposit_kinds',
  'SELECT kind FROM deposit_observations WHERE order_id = $1',
);

let chain: TestChain;
let database: TestDatabase;
let vendor: TestWallet;
let proxies: [RpcProxy, RpcProxy];
const strays: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  chain = await startTestChain(CHAIN_ID);
  database = await openTestDatabase();
  vendor = await chain.fundedWallet();
  proxies = [await startRpcProxy(chain.settings.rpcUrl), await startRpcProxy(chain.settings.rpcUrl)];
});
afterEach(async () => {
  for (const proxy of proxies) proxy.intercept = () => undefined;
  await Promise.all(strays.splice(0).map((stray) => stray.stop()));
});
afterAll(async () => {
  await Promise.all(proxies?.map((proxy) => proxy.close()) ?? []);
  await database?.close();
  await chain?.stop();
});

/** A real node with the chain as it is now, which from here on goes its own way. */
async function copiedNode() {
  const node = await startMemoryNode(CHAIN_ID, await chain.history());
  strays.push(node);
  const control = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl) }).extend(publicActions);
  return { url: node.rpcUrl, control };
}

function nodes(urls: readonly string[], quorum?: number) {
  const troubles: [string, NodeTrouble][] = [];
  const client = createChainClient(
    { ...chain.settings, rpcUrls: urls, ...(quorum === undefined ? {} : { quorum }) },
    { onTrouble: (text, kind) => troubles.push([text, kind]), restMs: 0, pollingInterval: 20 },
  );
  const alerts = () => troubles.filter(([, kind]) => kind === 'disagreement').map(([text]) => text);
  return { client, alerts, troubles };
}

async function watching(client: TestChain['client']) {
  const orderId = randomUUID();
  const watch: EscrowWatch = {
    address: randomWallet().address,
    orderId,
    partnerId: randomUUID(),
    token: tokenByCode(chain.settings, 'USDC').address,
    expectedAmount: AMOUNT,
    expectedSender: vendor.address,
  };
  await unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) =>
    watchEscrow(unit, CHAIN_ID, watch),
  );
  const watcher = createWatcher({
    ...{ db: database.db, clock, ids, logger, client },
    settings: { ...chain.settings, confirmations: CONFIRMATIONS },
    handlers: [],
    bookHeldDeposits: () => {},
  });
  const kinds = async () => (await database.db.query(SYSTEM, readKinds, [orderId])).map(({ kind }) => kind);
  return { watch, watcher, kinds };
}

async function payOn(node: { control: TestChain['control'] }, to: Address): Promise<void> {
  const token = tokenByCode(chain.settings, 'USDC').address;
  const { data } = tokenTransferCall({ token, to, amount: AMOUNT });
  await node.control.impersonateAccount({ address: vendor.address });
  await node.control.request({
    method: 'eth_sendTransaction',
    params: [{ from: vendor.address, to: token, data, gas: '0x30d40' }],
  } as never);
  await node.control.mine({ blocks: CONFIRMATIONS });
}

describe('a deposit counts', () => {
  test('while one of three nodes is behind, and the one behind is asked again when it has caught up', async () => {
    const behind = await copiedNode();
    const { client, alerts } = nodes([behind.url, proxies[0].url, proxies[1].url]);
    const { watch, watcher, kinds } = await watching(client);
    await watcher.catchUp();
    await payOn(chain, watch.address);
    await watcher.catchUp();
    expect(await kinds()).toEqual(['exact']);
    expect(alerts()).toEqual([]);
  });

  test('not where only a node on a fork has it: everything is held, an alert is raised, and it goes on when the fork is gone', async () => {
    const forked = await copiedNode();
    const { client, alerts } = nodes([forked.url, proxies[0].url, proxies[1].url]);
    const { watch, watcher, kinds } = await watching(client);
    await watcher.catchUp();
    await payOn(forked, watch.address);
    await chain.control.mine({ blocks: CONFIRMATIONS + 1 });
    await expect(watcher.catchUp()).rejects.toThrow('disagree');
    expect(await kinds()).toEqual([]);
    expect(alerts()[0]).toContain('disagree about block');

    const healed = nodes([proxies[0].url, proxies[1].url]);
    const later = createWatcher({
      ...{
        db: database.db,
        clock,
        ids,
        logger,
        client: healed.client,
        handlers: [],
        bookHeldDeposits: () => {},
      },
      settings: { ...chain.settings, confirmations: CONFIRMATIONS },
    });
    await later.catchUp();
    expect(await kinds()).toEqual([]);
    await payOn(chain, watch.address);
    await later.catchUp();
    expect(await kinds()).toEqual(['exact']);
  });

  test('not on the word of a node that missed a reorganisation, though it is the first', async () => {
    const { client } = nodes([proxies[0].url, proxies[1].url]);
    const { watch, watcher, kinds } = await watching(client);
    await watcher.catchUp();
    await payOn(chain, watch.address);
    const stale = await copiedNode();
    await chain.reorganise(CONFIRMATIONS + 1);
    const three = nodes([stale.url, proxies[0].url, proxies[1].url]);
    const held = createWatcher({
      ...{
        db: database.db,
        clock,
        ids,
        logger,
        client: three.client,
        handlers: [],
        bookHeldDeposits: () => {},
      },
      settings: { ...chain.settings, confirmations: CONFIRMATIONS },
    });
    await expect(held.catchUp()).rejects.toThrow('disagree');
    expect(await kinds()).toEqual([]);
    expect(three.alerts()).not.toEqual([]);
    await watcher.catchUp();
    expect(await kinds()).toEqual([]);
    await payOn(chain, watch.address);
    await watcher.catchUp();
    expect(await kinds()).toEqual(['exact']);
  });

  test.each([
    ['invents one', (logs: unknown[], made: object) => [...logs, made]],
    ['keeps one back', () => []],
  ])('not while a node %s: held with an alert, then read as it was', async (_what, bend) => {
    const { client, alerts } = nodes([proxies[0].url, proxies[1].url]);
    const { watch, watcher, kinds } = await watching(client);
    await watcher.catchUp();
    const isInvented = _what === 'invents one';
    await payOn(chain, isInvented ? randomWallet().address : watch.address);
    const block = await chain.client.getBlock();
    const made = {
      address: watch.token,
      topics: [toEventSelector('Transfer(address,address,uint256)'), pad(vendor.address), pad(watch.address)],
      data: encodeAbiParameters([{ type: 'uint256' }], [AMOUNT]),
      blockNumber: `0x${(block.number - BigInt(CONFIRMATIONS) + 1n).toString(16)}`,
      blockHash: block.parentHash,
      transactionHash: `0x${'5a'.repeat(32)}`,
      transactionIndex: '0x0',
      logIndex: '0x0',
      removed: false,
    };
    proxies[0].intercept = async ({ method, passOn }) =>
      method === 'eth_getLogs' ? { result: bend((await passOn()).result as unknown[], made) } : undefined;
    await expect(watcher.catchUp()).rejects.toThrow('disagree');
    expect(await kinds()).toEqual([]);
    expect(alerts()[0]).toContain('disagree about the logs');
    proxies[0].intercept = () => undefined;
    await watcher.catchUp();
    expect(await kinds()).toEqual(isInvented ? [] : ['exact']);
  });

  test('on one node’s word where the other is out of reach, unless the configuration wants both', async () => {
    const [, second] = proxies;
    const loose = nodes([proxies[0].url, second.url]);
    const strict = nodes([proxies[0].url, second.url], 2);
    second.intercept = () => 503;
    expect(await loose.client.agreedBlockHash(1n)).toMatch(/^0x/);
    await expect(strict.client.agreedBlockHash(1n)).rejects.toThrow('too few nodes');
    second.intercept = () => undefined;
    expect(await strict.client.agreedBlockHash(1n)).toMatch(/^0x/);
  });
});

describe('a transaction', () => {
  const effect = (sender: Address, to: Address) => async () => ({
    chainId: CHAIN_ID,
    sender,
    call: tokenTransferCall({ token: tokenByCode(chain.settings, 'USDC').address, to, amount: AMOUNT }),
  });

  test('is not taken for mined while a node shows another receipt than the others', async () => {
    const sender = await chain.fundedWallet();
    const { client, alerts } = nodes([proxies[0].url, proxies[1].url]);
    const transactor = createTransactor({
      ...{ db: database.db, clock, ids, signers: [sender] },
      chains: [{ settings: chain.settings, client }],
    });
    const [key, to] = [randomUUID(), randomWallet().address];
    proxies[0].intercept = async ({ method, passOn }) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      const { result } = await passOn();
      return { result: result && { ...(result as object), status: '0x0', logs: [] } };
    };
    for (let turn = 0; turn < 3; turn++) {
      expect((await transactor.advance(key, effect(sender.address, to))).state).toBe('pending');
    }
    expect(await chain.balanceOf('USDC', to)).toBe(AMOUNT);
    expect(alerts()[0]).toContain('disagree about a receipt');
    proxies[0].intercept = () => undefined;
    expect(await transactor.advance(key, effect(sender.address, to))).toMatchObject({
      state: 'mined',
      receipt: { status: 'success' },
    });
  });

  test('is mined though the first node takes it and keeps it to itself', async () => {
    const sender = await chain.fundedWallet();
    const { client } = nodes([proxies[0].url, proxies[1].url]);
    proxies[0].intercept = ({ method }) =>
      method === 'eth_sendRawTransaction' ? { result: `0x${'00'.repeat(32)}` } : undefined;
    const transactor = createTransactor({
      ...{ db: database.db, clock, ids, signers: [sender] },
      chains: [{ settings: chain.settings, client }],
    });
    const [key, to] = [randomUUID(), randomWallet().address];
    await transactor.advance(key, effect(sender.address, to));
    expect((await transactor.advance(key, effect(sender.address, to))).state).toBe('mined');
    expect(await chain.balanceOf('USDC', to)).toBe(AMOUNT);
  });
});

describe('what stood in a final block', () => {
  test('is not believed where nodes differ, so that no request lapses on one node’s word', async () => {
    const { client, alerts } = nodes([proxies[0].url, proxies[1].url]);
    const blockNumber = await chain.client.getBlockNumber();
    const read = () => client.getTransactionCount({ address: vendor.address, blockNumber });
    expect(await read()).toBeGreaterThanOrEqual(0);
    proxies[1].intercept = ({ method }) =>
      method === 'eth_getTransactionCount' ? { result: '0x63' } : undefined;
    await expect(read()).rejects.toThrow('disagree');
    expect(alerts()[0]).toContain('disagree about the state');
  });

  test('and the head is the highest block that most nodes have: one far ahead alone is not followed', async () => {
    const third = await startRpcProxy(chain.settings.rpcUrl);
    strays.push({ stop: () => third.close() });
    const { client, troubles } = nodes([third.url, proxies[0].url, proxies[1].url]);
    third.intercept = ({ method }) => (method === 'eth_blockNumber' ? { result: '0xffffff' } : undefined);
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(await chain.client.getBlockNumber());
    expect(troubles[0]?.[0]).toContain('ahead of all others');
  });
});
