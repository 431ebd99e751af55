import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { SYSTEM } from '../db/database.ts';
import { unitOfWork } from '../engine/unit-of-work.ts';
import { createClock } from '../lib/clock.ts';
import { createIdGenerator } from '../lib/ids.ts';
import { createLogger } from '../lib/logger.ts';
import { tokenByCode } from './chain-settings.ts';
import { inspectOrder } from './inspect-order.ts';
import { randomWallet, startTestChain, type TestChain } from './testing/local-chain.ts';
import { tokenTransferCall } from './token-reads.ts';
import { createTransactor } from './transactor.ts';
import { watchEscrow } from './watch.store.ts';
import { createWatcher } from './watcher.ts';

const AMOUNT = 42_000_000n;

let chain: TestChain;
let database: TestDatabase;

beforeAll(async () => {
  chain = await startTestChain(31_413);
  database = await openTestDatabase();
});
afterAll(async () => {
  await database?.close();
  await chain?.stop();
});

test('an order’s escrow, deposit and transaction are shown as records and chain have them', async () => {
  const tools = { db: database.db, clock: createClock(), ids: createIdGenerator() };
  const { settings, client } = chain;
  const vendor = await chain.fundedWallet();
  const [orderId, escrow] = [randomUUID(), randomWallet().address];
  const token = tokenByCode(settings, 'USDC').address;
  const watcher = createWatcher({
    ...tools,
    settings,
    client,
    handlers: [],
    logger: createLogger({ level: 'silent', format: 'json' }),
  });
  await watcher.catchUp();
  await unitOfWork(tools, SYSTEM, async (unit) =>
    watchEscrow(unit, settings.chainId, {
      address: escrow,
      orderId,
      partnerId: randomUUID(),
      token,
      expectedAmount: AMOUNT,
      expectedSender: vendor.address,
    }),
  );
  const transactor = createTransactor({ ...tools, chains: [chain], signers: [vendor] });
  const call = tokenTransferCall({ token, to: escrow, amount: AMOUNT });
  const effect = { chainId: settings.chainId, sender: vendor.address, call };
  await vi.waitFor(async () => {
    const { state } = await transactor.advance(`sandbox-funding:${orderId}`, async () => effect);
    expect(state).toBe('mined');
  });
  await watcher.catchUp();

  const text = (await inspectOrder({ db: database.db, clientOf: () => client }, orderId)).join('\n');
  expect(text).toContain(`Escrow ${escrow} on chain 31413`);
  expect(text).toContain('holds 42000000');
  expect(text).toContain('not deployed: nothing has left it');
  expect(text).toContain(`Deposit exact (credited): 42000000 of ${token} from ${vendor.address}`);
  expect(text).toMatch(/Transaction 0x[0-9a-f]{64} \(succeeded\) version 1/);
  expect(text).toContain(`Transfer at ${token}: from ${vendor.address}, to ${escrow}, value 42000000`);

  const unknown = await inspectOrder({ db: database.db, clientOf: () => undefined }, randomUUID());
  expect(unknown).toContain('No escrow is registered.');
});
