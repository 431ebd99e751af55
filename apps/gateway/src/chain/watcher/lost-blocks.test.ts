import { randomUUID } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cloneDatabase } from '../../../../../test/harness/database.ts';
import { createDatabase, type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { callRpc } from '../../local/chain-rpc.ts';
import { type Address, type Hex, tokenByCode } from '../chain-settings.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { tokenTransferCall } from '../token-reads.ts';
import type { EscrowWatch } from './chain-facts.ts';
import { type ChainStanding, obstacleTo, readAgain, standingLines, standingOf } from './lost-blocks.ts';
import { readCursor, watchEscrow } from './watch.store.ts';
import { createWatcher, FinalityBrokenError } from './watcher.ts';

const CONFIRMATIONS = 3;
const AMOUNT = 5_000_000n;

const readDeposits = statement<[], { kind: string; log_index: number; block_hash: string; amount: string }>(
  'test.lost_deposits',
  'SELECT kind, log_index, block_hash, amount::text FROM deposit_observations ORDER BY amount',
);
const readAudit = statement<[], { subject: string; reason: string; after: Record<string, unknown> }>(
  'test.lost_audit',
  `SELECT subject, reason, after FROM operator_audit WHERE action = 'chain.resume'`,
);

let chain: TestChain;
let db: Database;
let payer: TestWallet;
let other: TestWallet;

const clock = createClock();
const ids = createIdGenerator();
const logger = createLogger({ level: 'silent', format: 'json' });

beforeAll(async () => {
  chain = await startTestChain(31_409);
  payer = await chain.fundedWallet();
  other = await chain.fundedWallet();
});
beforeEach(async () => {
  await db?.close();
  db = createDatabase({ connectionString: await cloneDatabase(), poolSize: 5 });
});
afterAll(async () => {
  await db?.close();
  await chain?.stop();
});

const readChain = () => ({
  settings: { ...chain.settings, confirmations: CONFIRMATIONS },
  client: chain.client,
});
const watcher = () =>
  createWatcher({ db, clock, ids, logger, ...readChain(), handlers: [], bookHeldDeposits: () => {} });
const mine = (blocks: number) => chain.control.mine({ blocks });
const standing = () => standingOf({ db }, readChain());
const lines = (one: ChainStanding) => standingLines(readChain(), one).join('\n');
const usdc = () => tokenByCode(chain.settings, 'USDC').address;
const pay = (to: Address, amount = AMOUNT) =>
  chain.send(payer, tokenTransferCall({ token: usdc(), to, amount }));

async function watched(): Promise<EscrowWatch> {
  const watch = {
    address: randomWallet().address,
    orderId: randomUUID(),
    partnerId: randomUUID(),
    token: usdc(),
    expectedAmount: AMOUNT,
    expectedSender: payer.address,
  };
  await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) =>
    watchEscrow(unit, chain.settings.chainId, watch),
  );
  return watch;
}

/** Two final deposits, of which the second is lost with its block. */
async function withLostDeposit() {
  const [kept, lost] = [await watched(), await watched()];
  await watcher().catchUp();
  await pay(kept.address);
  await mine(1);
  const { transactionHash } = await pay(lost.address, AMOUNT + 1n);
  const { input, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = await chain.client.getTransaction({
    hash: transactionHash,
  });
  await mine(CONFIRMATIONS);
  await watcher().catchUp();
  await chain.reorganise(CONFIRMATIONS + 1);
  /** The same bytes as before. */
  const raw = await privateKeyToAccount(payer.privateKey).signTransaction({
    chainId: chain.settings.chainId,
    type: 'eip1559',
    to: usdc(),
    data: input,
    nonce,
    gas,
    maxFeePerGas: maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
  });
  return { kept, lost, raw, transactionHash };
}

async function lostNow() {
  const found = await standing();
  if (found.state !== 'lost') throw new Error(`the chain is ${found.state}`);
  return found.lost;
}

describe('a chain that has lost final blocks', () => {
  // Proves trap 23.
  test('is named with what was recorded from them, and read again from the last block that is the same', async () => {
    const { transactionHash } = await withLostDeposit();
    await mine(CONFIRMATIONS + 1);
    await expect(watcher().catchUp()).rejects.toThrow(FinalityBrokenError);
    const found = await standing();
    const lost = await lostNow();
    const { blockNumber } = (await readCursor(db, chain.settings.chainId)) ?? { blockNumber: 0n };
    expect(lost.isCommonCertain).toBe(true);
    expect(lost.deposits).toMatchObject([{ row: { tx_hash: transactionHash, kind: 'excess' }, now: null }]);
    expect(lines(found)).toContain(`block ${blockNumber} was ${lost.read.blockHash}`);
    expect(lines(found)).toContain(
      `block ${lost.common.blockNumber} is the last that is known to be the same`,
    );
    expect(lines(found)).toContain('5.000001 USDC, excess, held for review');
    expect(lines(found)).toContain('is not on the chain any more');
    expect(obstacleTo(lost)).toBeNull();

    const late = await watched();
    await pay(late.address);
    await mine(CONFIRMATIONS);
    expect(await readAgain({ db, clock, ids }, readChain(), lost, 'ticket 23')).toBe(true);
    expect(await readAgain({ db, clock, ids }, readChain(), lost, 'ticket 23')).toBe(false);
    await watcher().catchUp();
    expect((await db.query(SYSTEM, readDeposits, [])).map(({ kind }) => kind)).toEqual([
      'exact',
      'exact',
      'excess',
    ]);
    expect((await standing()).state).toBe('as_read');
    const gone = lost.deposits.map(({ row }) => row.deposit_id);
    expect(await db.query(SYSTEM, readAudit, [])).toMatchObject([
      { subject: 'chains/test-chain', reason: 'ticket 23', after: { gone_deposit_ids: gone } },
    ]);
  });

  test('and has a deposit in another place now: it is counted once, and not before it is final there', async () => {
    const { raw, transactionHash } = await withLostDeposit();
    const rpc = (method: string, params: readonly unknown[]) =>
      callRpc(chain.settings.rpcUrl, method, params);
    await rpc('evm_setAutomine', [false]);
    // Another transfer comes before it in its block, so that its log has another number.
    const { client } = chain;
    const first = await privateKeyToAccount(other.privateKey).signTransaction({
      chainId: chain.settings.chainId,
      type: 'eip1559',
      ...tokenTransferCall({ token: usdc(), to: payer.address, amount: 1n }),
      nonce: await client.getTransactionCount({ address: other.address }),
      gas: 200_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    });
    for (const serializedTransaction of [first, raw] as Hex[]) {
      await client.sendRawTransaction({ serializedTransaction });
    }
    await mine(1);
    await rpc('evm_setAutomine', [true]);
    expect((await client.getTransactionReceipt({ hash: transactionHash })).logs[0]?.logIndex).toBe(1);

    expect(obstacleTo(await lostNow())).toContain('not final yet');
    await mine(CONFIRMATIONS - 1);
    const found = await lostNow();
    expect(found.deposits).toMatchObject([{ now: { logIndex: 1, isFinal: true } }]);
    expect(obstacleTo(found)).toBeNull();
    expect(await readAgain({ db, clock, ids }, readChain(), found, 'ticket 24')).toBe(true);
    await mine(CONFIRMATIONS);
    await watcher().catchUp();
    expect(await db.query(SYSTEM, readDeposits, [])).toMatchObject([
      { kind: 'exact', amount: `${AMOUNT}` },
      { kind: 'excess', log_index: 1, amount: `${AMOUNT + 1n}` },
    ]);
  });

  test('is told from one whose nodes are behind, one that was never read and one that is well', async () => {
    expect((await standing()).state).toBe('never_read');
    await watcher().catchUp();
    await mine(2);
    await watcher().catchUp();
    expect((await standing()).state).toBe('as_read');
    const head = await chain.client.getBlockNumber();
    const snapshot = await chain.control.snapshot();
    await mine(5);
    await watcher().catchUp();
    await chain.control.revert({ id: snapshot });
    const found = await standing();
    expect(found).toMatchObject({ state: 'behind', head });
    expect(lines(found)).toContain('wait for them');
  });
});
