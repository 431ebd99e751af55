import { pad } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RpcProxy, startRpcProxy } from '../../apps/gateway/src/chain/testing/rpc-proxy.ts';
import { readCursor } from '../../apps/gateway/src/chain/watcher/watch.store.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { reconcileAll } from '../../apps/gateway/src/features/reconciliation/reconcile.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type ChainDriver, chainDriver } from './chain-driver.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';

const CHAIN = 'base-mainnet';

const unsearched = statement<[orderId: string], { n: number }>(
  'test.unsearched',
  'SELECT count(*)::int AS n FROM escrow_watches WHERE order_id = $1 AND NOT caught_up',
);

/** A provider's load balancer: blocks are answered by a backend that is up to date, logs by one that lags behind. */
describe('a deposit that the node kept to itself', () => {
  let gateway: TestGateway;
  let node: RpcProxy;
  let driver: OrdersDriver;
  let settlementChain: ChainDriver;

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: { RECONCILIATION_SECONDS: '86400', RATE_LIMIT_PARTNER_PER_MINUTE: '100000' },
      async nodeAddress(slug, rpcUrl) {
        if (slug !== CHAIN) return rpcUrl;
        node = await startRpcProxy(rpcUrl);
        return node.url;
      },
    });
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    driver = ordersDriver(gateway);
    settlementChain = chainDriver(gateway);
  });
  afterAll(async () => {
    await gateway?.stop();
    await node?.close();
  });

  /** Logs that name the escrow are not told until `end`; answers how often. */
  function keepSilentAbout(escrow: `0x${string}`) {
    const lies = {
      told: 0,
      end() {
        node.intercept = () => undefined;
      },
    };
    node.intercept = ({ method, params }) => {
      const asked = JSON.stringify(params).toLowerCase();
      const isAbout = asked.includes(pad(escrow).toLowerCase()) || asked.includes(escrow.toLowerCase());
      if (method !== 'eth_getLogs' || !isAbout) return undefined;
      lies.told++;
      return { result: [] };
    };
    return lies;
  }

  async function pastTheHead(): Promise<void> {
    const { client, settings } = gateway.deps.chains.get(CHAIN);
    const head = await client.getBlockNumber();
    await until('the block to be read', async () => {
      const cursor = await readCursor(gateway.deps.db, settings.chainId);
      return cursor !== undefined && cursor.blockNumber >= head;
    });
  }

  /** An off-ramp order whose deposit is on chain, in a block that was read without it. */
  async function withMissedDeposit() {
    const orderId = await driver.offrampOrder();
    const { escrow } = await until('the escrow', async () => {
      const funds = await driver.funds(orderId);
      return funds.escrow !== null && funds;
    });
    await until('the first search', async () => {
      const [row] = await gateway.deps.db.query(SYSTEM, unsearched, [orderId]);
      return row?.n === 0;
    });
    const lies = keepSilentAbout(escrow.address);
    await settlementChain.pay(gateway.partners[0], escrow.address, atomic(escrow.expected_amount));
    await pastTheHead();
    expect(lies.told).toBeGreaterThan(0);
    return { orderId, lies };
  }

  const differenceOf = async (orderId: string) =>
    (await gateway.operator.reconciliation.get({ limit: 1 })).body.data.differences.find(
      ({ order_id }) => order_id === orderId,
    );
  const searchIsOver = (orderId: string) =>
    until('the search', async () => {
      const [row] = await gateway.deps.db.query(SYSTEM, unsearched, [orderId]);
      return row?.n === 0;
    });

  // Proves trap 24.
  it('is found by the reconciliation while the order still waits for it, and funds the order', async () => {
    const { orderId, lies } = await withMissedDeposit();
    lies.end();
    expect((await driver.read(orderId)).status).toBe('awaiting_crypto_transfer_authorization');
    await reconcileAll(gateway.deps);
    await driver.reaches(orderId, 'crypto_received');
    await reconcileAll(gateway.deps);
    expect(await differenceOf(orderId)).toBeUndefined();
  });

  it('is searched for once by itself, and again when an operator says so', async () => {
    const { orderId, lies } = await withMissedDeposit();
    const told = lies.told;
    await reconcileAll(gateway.deps);
    await searchIsOver(orderId);
    expect(lies.told).toBeGreaterThan(told);
    lies.end();
    await reconcileAll(gateway.deps);
    await searchIsOver(orderId);
    const found = await differenceOf(orderId);
    expect(found).toMatchObject({ kind: 'escrow_balance', expected: '0.000000' });
    expect((await driver.read(orderId)).status).toBe('awaiting_crypto_transfer_authorization');

    const reason = 'the provider had a bad day';
    const searched = await gateway.operator.reconciliation.searchEscrow(found?.difference_id ?? '', {
      reason,
    });
    expect(searched.status, searched.text).toBe(200);
    expect(Date.parse(searched.body.data.searched_since)).toBeLessThanOrEqual(Date.now());
    await driver.reaches(orderId, 'crypto_received');
    const { entries } = (await gateway.operator.audit.list({ subject: `orders/${orderId}` })).body.data;
    expect(entries).toMatchObject([{ action: 'escrow.search_again', reason }]);
    await reconcileAll(gateway.deps);
    expect(await differenceOf(orderId)).toBeUndefined();
    const gone = await gateway.operator.reconciliation.searchEscrow(found?.difference_id ?? '', { reason });
    expect(gone.body.error.code).toBe('QUEUE_CASE_NOT_FOUND');
  });
});
