import { safe } from '@causeway/contracts';
import type { TransactionReceipt } from 'viem';
import type { Database } from '../../db/database.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { isDeployed } from '../token-reads.ts';
import { findReceipt, isFinal } from '../transactions/transaction-rpc.ts';
import { findExecution } from './executions.store.ts';

/** The nonce of the escrow's next transaction; one that is not deployed yet begins at 0. */
export async function escrowNonce(
  client: ChainClient,
  escrow: Address,
  blockNumber?: bigint,
): Promise<bigint> {
  if (!(await isDeployed(client, escrow, blockNumber))) return 0n;
  const at = blockNumber === undefined ? {} : { blockNumber };
  return client.readContract({ abi: safe.abi, address: escrow, functionName: 'nonce', ...at });
}

/** What has become of a nonce that a signed transaction was meant for. Whoever has the signatures may have sent it. */
export type NonceFate =
  | { readonly kind: 'unused' }
  /** Used, and not final or not read by the watcher yet. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'executed'; readonly receipt: TransactionReceipt }
  /** Another transaction has used it: this one can never happen. */
  | { readonly kind: 'used_otherwise' };

export async function nonceFate(
  db: Database,
  { client, settings }: ConnectedChain,
  escrow: Address,
  safeTxHash: Hex,
  nonce: bigint,
): Promise<NonceFate> {
  if ((await escrowNonce(client, escrow)) <= nonce) return { kind: 'unused' };
  const { txHash, readTo } = await findExecution(db, settings.chainId, escrow, safeTxHash);
  if (txHash !== null) {
    const receipt = await findReceipt(client, [txHash]);
    const isSettled = receipt !== undefined && (await isFinal(client, receipt, settings.confirmations));
    return isSettled ? { kind: 'executed', receipt } : { kind: 'unsettled' };
  }
  // What was executed up to there is on record, so whatever has used the nonce by then was something else.
  const wasUsed = readTo >= 0n && (await escrowNonce(client, escrow, readTo)) > nonce;
  return { kind: wasUsed ? 'used_otherwise' : 'unsettled' };
}
