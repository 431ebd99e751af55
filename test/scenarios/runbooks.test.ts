import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { tokenByCode } from '../../apps/gateway/src/chain/chain-settings.ts';
import { describeEscrow } from '../../apps/gateway/src/chain/escrow/escrow.ts';
import {
  randomWallet,
  startTestChain,
  type TestChain,
} from '../../apps/gateway/src/chain/testing/local-chain.ts';
import { tokenTransferCall } from '../../apps/gateway/src/chain/token-reads.ts';
import { readAgain, standingOf } from '../../apps/gateway/src/chain/watcher/lost-blocks.ts';
import { watchEscrow } from '../../apps/gateway/src/chain/watcher/watch.store.ts';
import { createWatcher, FinalityBrokenError } from '../../apps/gateway/src/chain/watcher/watcher.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { expireOrders } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { connect, openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { readBlocks } from '../harness/guide-blocks.ts';
import { ordersDriver } from './orders-driver.ts';
import { orderParties } from './orders-parties.ts';

/** What the guides have a person write into the database, by a login that may do no more than an owner's. */
const OWNER = `runbook_${process.pid}`;
const HOUR_MS = 60 * 60 * 1_000;

let admin: pg.Client;

beforeAll(async () => {
  admin = await connect(inject('ground').adminUrl);
  await admin.query(`CREATE ROLE ${OWNER} LOGIN PASSWORD 'pw'`);
  await admin.query(`GRANT causeway_system TO ${OWNER} WITH INHERIT TRUE, SET TRUE`);
});
afterAll(async () => {
  await admin?.query(`DROP ROLE ${OWNER}`);
  await admin?.end();
});

/** The transaction of a guide that writes; there is one a guide. */
async function writing(guide: string): Promise<string> {
  const file = `docs/guides/${guide}.md`;
  const blocks = readBlocks(file, await readFile(new URL(`../../${file}`, import.meta.url), 'utf8'));
  const [block, ...others] = blocks.filter(
    ({ language, text }) => language === 'sql' && text.includes('UPDATE '),
  );
  if (block === undefined || others.length > 0)
    throw new Error(`${file} has not one transaction that writes`);
  return block.text;
}

async function runAsOwner(databaseUrl: string, sql: string): Promise<void> {
  const url = new URL(databaseUrl);
  url.username = OWNER;
  url.password = 'pw';
  const client = await connect(url.href);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

describe('after a restore', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  /** As a dump of last night has it: its time was up before anything looked at it. */
  async function overdueOrder(): Promise<string> {
    const orderId = await ordersDriver(gateway).onrampOrder();
    const owner = await connect(gateway.databaseUrl);
    await owner.query(`UPDATE orders SET deadline_at = now() - interval '3 hours' WHERE order_id = $1`, [
      orderId,
    ]);
    await owner.end();
    return orderId;
  }

  it('a hold alone does not save an order that was overdue: it ends when the hold is released', async () => {
    const [driver, parties] = [ordersDriver(gateway), orderParties(gateway)];
    const orderId = await overdueOrder();
    await parties.operate(orderId, 'hold', { decision: 'place', reason: 'restored' });
    expect(await expireOrders(gateway.deps)).toBe(0);
    await parties.operate(orderId, 'hold', { decision: 'release', reason: 'looked' });
    expect(await expireOrders(gateway.deps)).toBe(1);
    expect((await driver.read(orderId)).status).toBe('cancelled');
  });

  it('the statement of the guide gives every waiting order time again, and shortens no wait', async () => {
    const driver = ordersDriver(gateway);
    const orderId = await overdueOrder();
    const patient = await driver.onrampOrder();
    const owner = await connect(gateway.databaseUrl);
    await owner.query(`UPDATE orders SET deadline_at = now() + interval '2 days' WHERE order_id = $1`, [
      patient,
    ]);
    await owner.end();

    await runAsOwner(gateway.databaseUrl, await writing('backup'));
    expect(await expireOrders(gateway.deps)).toBe(0);
    const left = async (id: string) => Date.parse((await driver.read(id)).expires_at) - Date.now();
    expect(await left(orderId)).toBeGreaterThan(11 * HOUR_MS);
    expect(await left(patient)).toBeGreaterThan(47 * HOUR_MS);
  });
});

describe('a chain that has lost final blocks', () => {
  const [clock, ids] = [createClock(), createIdGenerator()];
  const logger = createLogger({ level: 'silent', format: 'json' });
  let chain: TestChain;
  let database: TestDatabase;

  beforeAll(async () => {
    chain = await startTestChain(31_409);
    database = await openTestDatabase();
  });
  afterAll(async () => {
    await database?.close();
    await chain?.stop();
  });

  const kinds = async () => (await database.owner.query('SELECT kind FROM deposit_observations')).rows;

  it('counts a deposit that was paid again once, by the statement of the guide', async () => {
    const vendor = await chain.fundedWallet();
    const [orderId, token] = [randomUUID(), tokenByCode(chain.settings, 'USDC').address];
    const parties = {
      service: randomWallet().address,
      seller: vendor.address,
      buyer: randomWallet().address,
    };
    const { address } = describeEscrow(chain.settings, orderId, parties);
    const amount = 5_000_000n;
    const [{ chainId }, { db }] = [chain.settings, database];
    const watch = {
      ...{ address, orderId, partnerId: randomUUID(), token },
      ...{ expectedAmount: amount, expectedSender: vendor.address },
    };
    const reported: string[] = [];
    const settings = { ...chain.settings, confirmations: 2 };
    const watcher = createWatcher({
      ...{ db, clock, ids, logger, settings, client: chain.client },
      handlers: [async (fact) => void reported.push(fact.type)],
      bookHeldDeposits: () => {},
    });
    const pay = () => chain.send(vendor, tokenTransferCall({ token, to: address, amount }));
    await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => watchEscrow(unit, chainId, watch));
    await watcher.catchUp();
    await pay();
    await chain.control.mine({ blocks: 2 });
    await watcher.catchUp();
    await chain.reorganise(3);
    await chain.control.mine({ blocks: 3 });
    await expect(watcher.catchUp()).rejects.toThrow(FinalityBrokenError);

    const again = await pay();
    await chain.control.mine({ blocks: 2 });
    const receipt = await chain.client.getTransactionReceipt({ hash: again.transactionHash });
    const [log] = receipt.logs;
    const { rows } = await database.owner.query('SELECT deposit_id FROM deposit_observations');
    const values: readonly [RegExp, string][] = [
      [/tx_hash = '[^']*'/, `tx_hash = '${receipt.transactionHash}'`],
      [/log_index = \d+/, `log_index = ${log?.logIndex}`],
      [/(block_number = )\d+(, block_hash = ')[^']*/, `$1${receipt.blockNumber}$2${receipt.blockHash}`],
      [/deposit_id = '[^']*'/, `deposit_id = '${rows[0].deposit_id}'`],
    ];
    let sql = await writing('chain');
    for (const [pattern, value] of values) {
      expect(sql).toMatch(pattern);
      sql = sql.replace(pattern, value);
    }
    await runAsOwner(database.url, sql);
    const watched = { settings, client: chain.client };
    const standing = await standingOf({ db }, watched);
    if (standing.state !== 'lost') throw new Error(`the chain is ${standing.state}`);
    expect(await readAgain({ db, clock, ids }, watched, standing.lost, 'ticket 9')).toBe(true);
    await watcher.catchUp();
    expect(await kinds()).toEqual([{ kind: 'exact' }]);
    expect(reported).toEqual(['deposit']);
  });
});
