import type { Chains } from '../../../chain/chains.ts';
import { nonceFate, readExecution } from '../../../chain/escrow/escrow-execution.ts';
import { findExecutions } from '../../../chain/escrow/executions.store.ts';
import { batchCall, executionCall, packSignatures } from '../../../chain/escrow/safe-transaction.ts';
import { isDeployed } from '../../../chain/token-reads.ts';
import {
  type MinedTransaction,
  transactionHandler,
} from '../../../chain/transactions/transaction-handler.ts';
import type { ChainEffect, Transactor } from '../../../chain/transactions/transactor.ts';
import type { ChainFactHandler } from '../../../chain/watcher/chain-facts.ts';
import { SYSTEM } from '../../../db/database.ts';
import type { Intent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import { postEntry } from '../../../engine/ledger.ts';
import type { UnitDeps, UnitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { Logger } from '../../../lib/logger.ts';
import { depositsOfOrder } from '../escrow/escrow.store.ts';
import { loadDeposit, lockDeposit } from './decide-deposit.ts';
import {
  depositCase,
  heldEntry,
  isOvertaken,
  isSigned,
  moveDeposit,
  tokenOf,
  wouldMove,
} from './deposit.adapter.ts';
import { hasTransaction } from './return-deposit.store.ts';
import { type DepositReturn, returnOf } from './return-deposit.ts';

interface ReturnDeps extends UnitDeps {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly logger: Logger;
}

const POLL_MS = 400;

/** Pays a deposit back out of its escrow, which is deployed on the way where it never was. */
export function returnDepositHandler(deps: ReturnDeps): IntentHandler<'escrow.return-deposit'> {
  const { chains } = deps;

  async function load({ payload }: Intent<'escrow.return-deposit'>) {
    const { deposit, order } = await loadDeposit(deps, SYSTEM, payload.deposit_id);
    const { return_nonce: nonce, return_signature: signature } = deposit;
    if (nonce === null || signature === null) throw new Error('the return is not signed');
    const chain = chains.get(order.chain);
    return { chain, signature, planned: returnOf(chain.settings, order, deposit, BigInt(nonce)) };
  }

  async function report(unit: UnitOfWork, depositId: string, end: Ending): Promise<void> {
    const { order, deposit, others } = await lockDeposit(unit, depositId);
    const { settings } = chains.get(order.chain);
    const one = depositCase(deposit, { settings, order, others, nonce: 0n, covers: false, surplus: 0n });
    if ('error' in end) {
      // What was sent can still be executed by anyone who has seen it, so it is kept; what never was, is not.
      const isSent = end.txHash !== undefined || (await hasTransaction(unit, deposit));
      const cleared = isSent ? {} : { return_nonce: null, return_signature: null };
      const unsent = { ...deposit, ...cleared, note: end.error, return_tx_hash: end.txHash ?? null };
      moveDeposit(unit, { ...one, deposit: unsent }, 'return_failed', 'chain');
    } else {
      // What the books did not know of when it came is booked now that it is known to be real.
      const came = tokenOf(settings, deposit.token) === undefined ? deposit.return_amount : deposit.amount;
      postEntry(unit, heldEntry(deposit, BigInt(came ?? 0), settings));
      const returned = { ...deposit, note: '', return_tx_hash: end.txHash };
      moveDeposit(unit, { ...one, deposit: returned }, 'return_confirmed', 'chain');
    }
    await followExecutions(deps, unit, order.order_id);
  }

  function failed({ payload }: Intent<'escrow.return-deposit'>, end: Failure): Outcome {
    const { error } = end;
    return { kind: 'failed', error, followUp: (unit) => report(unit, payload.deposit_id, end) };
  }

  /** A final receipt of the execution, whichever account sent it. */
  function settled(
    intent: Intent<'escrow.return-deposit'>,
    { escrow, hash, transfers }: DepositReturn,
    receipt: MinedTransaction['receipt'],
  ): Outcome {
    const reading = readExecution(receipt, { escrow: escrow.address, safeTxHash: hash, transfers });
    const { transactionHash: txHash } = receipt;
    if (!reading.succeeded) return failed(intent, { error: reading.reason, txHash });
    return {
      kind: 'confirmed',
      result: { tx_hash: txHash },
      followUp: (unit) => report(unit, intent.payload.deposit_id, { txHash }),
    };
  }

  /** Undefined while the nonce is unused. */
  async function outcomeOnChain(intent: Intent<'escrow.return-deposit'>): Promise<Outcome | undefined> {
    const { chain, planned } = await load(intent);
    const { escrow, hash, transaction } = planned;
    const fate = await nonceFate(deps.db, chain, escrow.address, hash, transaction.nonce);
    switch (fate.kind) {
      case 'unused':
        return undefined;
      case 'unsettled':
        return { kind: 'waiting', afterMs: POLL_MS };
      case 'executed':
        return settled(intent, planned, fate.receipt);
      case 'used_otherwise':
        return failed(intent, { error: 'another transaction has used the escrow’s nonce' });
    }
  }

  /** May be sent in more than one transaction: the signatures are for one nonce of the Safe, which admits it once. */
  async function describe(intent: Intent<'escrow.return-deposit'>): Promise<ChainEffect | Outcome> {
    const executed = await outcomeOnChain(intent);
    if (executed !== undefined) return executed;
    const { chain, signature, planned } = await load(intent);
    const signatures = [await chains.service.signDigest(planned.hash), signature];
    return executionEffect(chain, planned, signatures);
  }

  /** A revert says that ours was not the one that did it, and no more: a third party may have deployed the escrow first. */
  async function conclude(
    intent: Intent<'escrow.return-deposit'>,
    { receipt }: MinedTransaction,
  ): Promise<Outcome | 'describe again'> {
    if (receipt.status !== 'success') return 'describe again';
    return settled(intent, (await load(intent)).planned, receipt);
  }

  return transactionHandler(deps.transactor, {
    schedule: schedule([2, 5, 15, 60], { maxAttempts: 8 }),
    pollMs: POLL_MS,
    logger: deps.logger,
    describe,
    conclude,
    givenUp: (intent) => failed(intent, { error: 'none of its transactions had an effect' }),
    exhausted: (intent, unit) =>
      report(unit, intent.payload.deposit_id, { error: 'the transaction would revert' }),
  });
}

async function executionEffect(
  { client, settings }: ReturnType<Chains['get']>,
  { escrow, transaction, hash }: DepositReturn,
  signatures: readonly `0x${string}`[],
): Promise<ChainEffect> {
  const { chainId, contracts } = settings;
  const execution = executionCall(escrow, transaction, await packSignatures(escrow, hash, signatures));
  const call = (await isDeployed(client, escrow.address))
    ? execution
    : batchCall([escrow.deploymentCall, execution], contracts.multiSendCallOnly);
  return { chainId, sender: 'hot-wallet', call };
}

/** With the transaction that executed it, where one did and moved something else. */
interface Failure {
  readonly error: string;
  readonly txHash?: `0x${string}`;
}

type Ending = { readonly txHash: `0x${string}` } | Failure;

interface FollowDeps {
  readonly chains: Chains;
}

/** An attempt that had failed is executed after all, by any account: what it did is then read from the chain. */
export function followReturns(deps: FollowDeps): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type === 'escrow_executed') await followExecutions(deps, unit, fact.orderId);
  };
}

/**
 * One at a time: while a deposit is on its way back, what another's earlier attempt did waits on record until that one has
 * arrived or failed. Two that are one transaction, by the same payee, amount and nonce, are settled by it once: whichever is on
 * its way, or else the first.
 */
async function followExecutions({ chains }: FollowDeps, unit: UnitOfWork, orderId: string): Promise<void> {
  const [signed] = (await unit.tx.query(depositsOfOrder, [orderId])).filter(isSigned);
  if (signed === undefined) return;
  const { order, deposit: first, others: rest } = await lockDeposit(unit, signed.deposit_id);
  const { settings } = chains.get(order.chain);
  const all = [first, ...rest];
  const waiting = all.flatMap((deposit) => {
    const others = all.filter((one) => one !== deposit);
    const around = { settings, order, others, nonce: 0n, covers: false, surplus: 0n };
    const again = depositCase({ ...deposit, return_attempts: deposit.return_attempts + 1 }, around);
    if (deposit.return_nonce === null || isOvertaken(deposit, others)) return [];
    if (wouldMove(again, 'return_seen', 'chain').kind === 'refused') return [];
    const { escrow, hash } = returnOf(settings, order, deposit, BigInt(deposit.return_nonce));
    return [{ again, escrow, hash, judged: deposit.return_tx_hash }];
  });
  const [one] = waiting;
  if (one === undefined) return;
  const hashes = waiting.map(({ hash }) => hash);
  const executed = await findExecutions(unit, settings.chainId, one.escrow.address, hashes);
  // Of what was read before and was not the return, nothing new is to be learnt.
  const seen = waiting.find(({ hash, judged }) => executed.has(hash) && executed.get(hash) !== judged);
  if (seen !== undefined) moveDeposit(unit, seen.again, 'return_seen', 'chain');
}
