import type { Chains } from '../../../chain/chains.ts';
import { nonceFate, readExecution } from '../../../chain/escrow/escrow-execution.ts';
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
import { depositCase, heldEntry, isSigned, moveDeposit, tokenOf, wouldMove } from './deposit.adapter.ts';
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
      const cleared = end.isSent ? {} : { return_nonce: null, return_signature: null };
      const unsent = { ...deposit, ...cleared, note: end.error };
      moveDeposit(unit, { ...one, deposit: unsent }, 'return_failed', 'chain');
      return;
    }
    // What the books did not know of when it came is booked now that it is known to be real.
    const came = tokenOf(settings, deposit.token) === undefined ? deposit.return_amount : deposit.amount;
    postEntry(unit, heldEntry(deposit, BigInt(came ?? 0), settings));
    const returned = { ...deposit, note: '', return_tx_hash: end.txHash };
    moveDeposit(unit, { ...one, deposit: returned }, 'return_confirmed', 'chain');
  }

  function failed({ payload }: Intent<'escrow.return-deposit'>, error: string): Outcome {
    return {
      kind: 'failed',
      error,
      followUp: (unit) => report(unit, payload.deposit_id, { error, isSent: true }),
    };
  }

  /** A final receipt of the execution, whichever account sent it. */
  function settled(
    intent: Intent<'escrow.return-deposit'>,
    { escrow, hash, transfers }: DepositReturn,
    receipt: MinedTransaction['receipt'],
  ): Outcome {
    const reading = readExecution(receipt, { escrow: escrow.address, safeTxHash: hash, transfers });
    if (!reading.succeeded) return failed(intent, reading.reason);
    const { transactionHash: txHash } = receipt;
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
        return failed(intent, 'another transaction has used the escrow’s nonce');
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

  /** A revert says that ours was not the one that did it, and no more. */
  async function conclude(
    intent: Intent<'escrow.return-deposit'>,
    { receipt }: MinedTransaction,
  ): Promise<Outcome> {
    if (receipt.status === 'success') return settled(intent, (await load(intent)).planned, receipt);
    return (await outcomeOnChain(intent)) ?? failed(intent, 'reverted');
  }

  return transactionHandler(deps.transactor, {
    schedule: schedule([2, 5, 15, 60], { maxAttempts: 8 }),
    pollMs: POLL_MS,
    logger: deps.logger,
    describe,
    conclude,
    exhausted: (intent, unit) =>
      report(unit, intent.payload.deposit_id, { error: 'the transaction would revert', isSent: false }),
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

type Ending = { readonly txHash: `0x${string}` } | { readonly error: string; readonly isSent: boolean };

/** An attempt that had failed is executed after all, by any account: what it did is then read from the chain. */
export function followReturns(deps: { readonly chains: Chains }): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'escrow_executed') return;
    const deposits = await unit.tx.query(depositsOfOrder, [fact.orderId]);
    for (const { deposit_id } of deposits.filter(isSigned)) {
      const { order, deposit, others } = await lockDeposit(unit, deposit_id);
      const { settings } = deps.chains.get(order.chain);
      const { hash } = returnOf(settings, order, deposit, BigInt(deposit.return_nonce ?? 0));
      const around = { settings, order, others, nonce: 0n, covers: false, surplus: 0n };
      const again = depositCase({ ...deposit, return_attempts: deposit.return_attempts + 1 }, around);
      if (hash !== fact.safeTxHash || wouldMove(again, 'return_seen', 'chain').kind === 'refused') continue;
      moveDeposit(unit, again, 'return_seen', 'chain');
    }
  };
}
