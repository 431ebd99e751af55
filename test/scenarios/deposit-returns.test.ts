import { feeOnTransferToken } from '@causeway/contracts';
import { createWalletClient, encodeFunctionData, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractCall } from '../../apps/gateway/src/chain/chain-settings.ts';
import { describeEscrow, type EscrowParties } from '../../apps/gateway/src/chain/escrow/escrow.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { MAX_TRANSACTIONS } from '../../apps/gateway/src/engine/intent.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import {
  lookBeforeSigning,
  signDepositReturn,
} from '../../apps/gateway/src/features/orders/deposits/return-deposit.ts';
import { callRpc } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { ChainDriver } from './chain-driver.ts';
import { CHAIN, code, type DepositDriver, startDepositDriver } from './deposit-driver.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { type ThirdPartySender, thirdPartySender } from './third-party-sender.ts';

const readEscrow = statement<[orderId: string], { escrow: EscrowParties }>(
  'test.parties_of_escrow',
  'SELECT escrow FROM orders WHERE order_id = $1',
);
/** From where on tokens that the chain is not configured for are found. */
const findForeignCursor = statement<[chainId: number], object>(
  'test.foreign_cursor_of_chain',
  'SELECT FROM foreign_token_cursors WHERE chain_id = $1',
);
const NOT_ALLOWED = [409, 'OPERATION_NOT_ALLOWED'];
/** Answers every call with a revert. */
const REVERTING = '0x60006000fd';

/** What two owners have signed stays executable by anyone while the escrow's nonce is unused, whatever became of our transactions. */
describe('a return that did not get through', () => {
  let at: DepositDriver;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let settlementChain: ChainDriver;
  let thirdParty: ThirdPartySender;

  beforeAll(async () => {
    at = await startDepositDriver();
    ({ gateway, driver, settlementChain } = at);
    thirdParty = await thirdPartySender(gateway, CHAIN);
    const { chainId } = gateway.deps.chains.get(CHAIN).settings;
    await until('tokens of others looked for', async () => {
      return (await gateway.deps.db.query(SYSTEM, findForeignCursor, [chainId])).length > 0;
    });
  });
  afterAll(() => gateway?.stop());

  /** Deposits of a cancelled order that an operator has decided to return. */
  async function toReturn(amounts: readonly bigint[]) {
    const { orderId, escrow } = await at.awaiting();
    await driver.act(orderId, 'cancel');
    for (const amount of amounts) await settlementChain.pay(gateway.partners[0], escrow, amount);
    const ids = (await at.seen(orderId, amounts.length)).map(({ deposit_id }) => deposit_id as string);
    for (const id of ids) await at.decide(id, 'return');
    return { orderId, escrow, ids };
  }

  /** Signed and published, and every transaction of ours displaced: the answer is what anyone can still send. */
  async function published(orderId: string, id: string): Promise<ContractCall> {
    const given = await at.signature(id);
    const call = await thirdParty.displaceAll(() => at.handIn(id, given), MAX_TRANSACTIONS);
    await at.reaches(orderId, id, 'return_pending');
    return call;
  }

  /** The chain is watched: another order’s deposit is credited. Answers what the wallet paid. */
  async function anotherIsCredited(): Promise<bigint> {
    const other = await at.awaiting();
    await settlementChain.pay(gateway.partners[0], other.escrow, other.expected);
    await driver.reaches(other.orderId, 'crypto_received');
    return other.expected;
  }

  /** The only deposit of a cancelled order, of a token that reverts when it is told to. */
  async function ofFickleToken() {
    const { walletPrivateKey } = gateway.partners[1];
    const { settings, client } = gateway.deps.chains.get(CHAIN);
    const { orderId, escrow } = await at.awaiting();
    await driver.act(orderId, 'cancel');
    const token = await settlementChain.deployToken(walletPrivateKey, 1_000n);
    await settlementChain.transfer(walletPrivateKey, escrow, 1_000n, token);
    const [{ deposit_id: id }] = await at.seen(orderId);
    await at.decide(id, 'return');
    const wellBehaved = await client.getCode({ address: token });
    const behave = (isWell: boolean) =>
      callRpc(settings.rpcUrl, 'hardhat_setCode', [token, isWell ? wellBehaved : REVERTING]);
    return { orderId, escrow, id: id as string, token, behave };
  }

  /** Signed, and never sent: the node says each time that it would revert. */
  async function refused(orderId: string, id: string): Promise<void> {
    const given = await at.signature(id);
    await at.handIn(id, given);
    await until('the attempt given up', async () => {
      await gateway.sdk().sandbox.advanceClock({ seconds: 60 });
      const [{ status, note }] = await at.depositsOf(orderId);
      return status === 'return_pending' && note === 'the transaction would revert';
    });
    await gateway.sdk().sandbox.resetClock();
  }

  it('because a third party had deployed the escrow first is sent once more, and arrives', async () => {
    const { orderId, ids } = await toReturn([1_000n]);
    const [id] = ids as [string];
    const { settings } = gateway.deps.chains.get(CHAIN);
    const [order] = await gateway.deps.db.query(SYSTEM, readEscrow, [orderId]);
    const { deploymentCall } = describeEscrow(settings, orderId, order!.escrow);
    const given = await at.signature(id);
    const { ours } = await thirdParty.overtake(
      () => at.handIn(id, given),
      () => deploymentCall,
    );
    expect((await at.reaches(orderId, id, 'returned')).return.tx_hash).not.toBe(ours);
    await at.agrees(orderId);
  });

  it('because its nonces were all used by others is signed again, and cannot be decided anew', async () => {
    const { orderId, ids } = await toReturn([1_000n]);
    const [id] = ids as [string];
    await published(orderId, id);
    expect(code(await at.decide(id, 'hold'))).toEqual(NOT_ALLOWED);
    await at.sendBack(orderId, id);
    await at.agrees(orderId);
  });

  // Proves trap 41.
  it('and is executed later by a third party is returned by that, once', async () => {
    const { orderId, ids } = await toReturn([1_000n]);
    const [id] = ids as [string];
    const before = await driver.balance(driver.wallet);
    const theirs = await thirdParty.send(await published(orderId, id));
    expect((await at.reaches(orderId, id, 'returned')).return.tx_hash).toBe(theirs);
    expect(await driver.balance(driver.wallet)).toBe(before + 1_000n);
    await at.agrees(orderId);
  });

  it.each([
    ['another amount', [1_000n, 2_000n]],
    ['the same amount', [1_000n, 1_000n]],
  ])(
    'and is executed while another deposit, of %s, is on its way back: both are returned once, and others are credited',
    async (_which, amounts) => {
      const { orderId, escrow, ids } = await toReturn(amounts);
      const [first, second] = ids as [string, string];
      const before = await driver.balance(driver.wallet);
      const firstCall = await published(orderId, first);
      const given = await at.signature(second);
      const { theirs } = await thirdParty.overtake(
        () => at.handIn(second, given),
        () => firstCall,
      );
      const paidMeanwhile = await anotherIsCredited();
      // The two are one transaction where their amounts are the same: it is that of the one on its way.
      const isSame = amounts[0] === amounts[1];
      const [settled, left] = isSame ? [second, first] : [first, second];
      expect((await at.reaches(orderId, settled, 'returned')).return.tx_hash).toBe(theirs);
      await at.reaches(orderId, left, 'return_pending');
      // What it was signed for can never happen any more.
      expect(code(await at.decide(left, 'hold'))).toEqual([200, undefined]);
      await at.agrees(orderId);
      await at.decide(left, 'return');
      await at.sendBack(orderId, left);
      const [one, other] = amounts as [bigint, bigint];
      expect(await driver.balance(driver.wallet)).toBe(before - paidMeanwhile + one + other);
      expect(await at.holds(at.tokens.USDC!, escrow)).toBe(0n);
      await at.agrees(orderId);
    },
  );

  it('gives way to another deposit with its nonce, and is then free again', async () => {
    const { orderId, escrow, ids } = await toReturn([1_000n, 2_000n]);
    const [first, second] = ids as [string, string];
    await published(orderId, first);
    await at.sendBack(orderId, second);
    await at.sendBack(orderId, first);
    expect(await at.holds(at.tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);
  });

  it('is not signed for a nonce with which another deposit has gone back meanwhile', async () => {
    const { orderId, ids } = await toReturn([1_000n, 2_000n]);
    const [first, second] = ids as [string, string];
    const given = await at.signature(second);
    const signer = { actor: 'operator', scope: SYSTEM, owners: ['seller', 'buyer'] } as const;
    const seen = await lookBeforeSigning(gateway.deps, signer, second);
    await at.sendBack(orderId, first);
    const signing = unitOfWork(gateway.deps, signer.scope, (unit) =>
      signDepositReturn(gateway.deps, unit, signer, second, given, seen),
    );
    await expect(signing).rejects.toMatchObject({ code: 'OPERATION_NOT_ALLOWED' });
    await at.sendBack(orderId, second);
    await at.agrees(orderId);
  });

  it('and is executed just before another deposit is signed for the next nonce: both are returned, and others are credited', async () => {
    const { orderId, escrow, ids } = await toReturn([1_000n, 1_000n]);
    const [first, second] = ids as [string, string];
    const { settings, client } = gateway.deps.chains.get(CHAIN);
    const rpc = (method: string, params: readonly unknown[]) => callRpc(settings.rpcUrl, method, params);
    const call = await published(orderId, first);
    await settlementChain.withoutBlocks(async () => {
      const theirs = await thirdParty.send(call);
      await rpc('hardhat_mine', ['0x1']);
      expect(await client.getTransactionReceipt({ hash: theirs })).toMatchObject({ status: 'success' });
      const { typed_data } = await gateway.partner.deposits
        .returnParameters(second)
        .then(({ body }) => body.data);
      expect(typed_data.message).toMatchObject({ nonce: '1' });
      const given = await at.signature(second);
      expect((await at.handIn(second, given)).status).toBe(200);
      const isSent = async () => {
        const { transactions } = (await gateway.operator.orders.get(orderId)).body.data;
        return transactions.some(({ status }) => status === 'open');
      };
      await until('the second in the pool', isSent);
    });
    await rpc('hardhat_mine', ['0x1']);
    await anotherIsCredited();
    await at.reaches(orderId, first, 'returned');
    await at.reaches(orderId, second, 'returned');
    expect(await at.holds(at.tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);
  });

  it('in a second attempt, after the first was published, cannot be decided anew', async () => {
    const { orderId, escrow, id, token, behave } = await ofFickleToken();
    const call = await published(orderId, id);
    await behave(false);
    await refused(orderId, id);
    expect(code(await at.decide(id, 'hold'))).toEqual(NOT_ALLOWED);
    await behave(true);
    const theirs = await thirdParty.send(call);
    expect((await at.reaches(orderId, id, 'returned')).return.tx_hash).toBe(theirs);
    expect(await at.holds(token, escrow)).toBe(0n);
  });

  it('because its token takes a fee is looked at once and left to a person, who closes it, and others are credited', async () => {
    const { settings, client } = gateway.deps.chains.get(CHAIN);
    const key = gateway.partners[1].walletPrivateKey as `0x${string}`;
    const account = privateKeyToAccount(key);
    const wallet = createWalletClient({ account, transport: http(settings.rpcUrl) });
    const { abi, bytecode } = feeOnTransferToken;
    const made = await wallet.deployContract({ abi, bytecode, args: [account.address], chain: null });
    const token = (await client.waitForTransactionReceipt({ hash: made })).contractAddress!;
    const mint = encodeFunctionData({ abi, functionName: 'mint', args: [account.address, 2_000n] });
    await settlementChain.send(key, { to: token, data: mint, value: 0n });
    const { orderId, escrow } = await at.awaiting();
    await driver.act(orderId, 'cancel');
    for (const amount of [1_000n, 500n]) await settlementChain.transfer(key, escrow, amount, token);
    const ids = (await at.seen(orderId, 2)).map(({ deposit_id }) => deposit_id as string);
    for (const id of ids) {
      await at.decide(id, 'return');
      await at.handIn(id, await at.signature(id));
      const left = await until('the return looked at', async () => {
        const found = (await at.depositsOf(orderId)).find(({ deposit_id }) => deposit_id === id);
        return found.note === 'transfers_differ' && found;
      });
      expect(left).toMatchObject({ status: 'return_pending', return: { tx_hash: expect.any(String) } });
      for (const decision of ['hold', 'return', 'accept'] as const)
        expect((await at.decide(id, decision)).status, decision).toBe(409);
      expect((await at.decide(id, 'dismiss')).body.data).toMatchObject({ status: 'dismissed' });
      expect((await at.depositsOf(orderId)).find(({ deposit_id }) => deposit_id === id)).toMatchObject({
        status: 'dismissed',
        return: { tx_hash: left.return.tx_hash },
      });
    }
    await anotherIsCredited();
    const { effects } = (await gateway.operator.orders.get(orderId)).body.data;
    const returns = effects.filter(({ kind }) => kind === 'escrow.return-deposit');
    expect(returns.map(({ status }) => status)).toEqual(['failed', 'failed']);
    await at.agrees(orderId);
  });

  it('of which nothing was sent yet, cannot be dismissed', async () => {
    const { id, behave } = await ofFickleToken();
    await behave(false);
    expect(code(await at.decide(id, 'dismiss'))).toEqual(NOT_ALLOWED);
  });

  it('in its only attempt, of which nothing was sent, can be decided anew', async () => {
    const { orderId, id, behave } = await ofFickleToken();
    await behave(false);
    await refused(orderId, id);
    expect((await at.decide(id, 'hold')).body.data).toMatchObject({ status: 'held_for_review' });
  });
});
