import { safe } from '@causeway/contracts';
import {
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  isAddressEqual,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import type { Database } from '../../db/database.ts';
import type { Address, Hex, TokenTransfer } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, findReceipt, isFinal } from '../transactions/transaction-rpc.ts';
import { ESCROW_THRESHOLD, type Escrow, ownersOf } from './escrow.ts';
import { findExecution } from './executions.store.ts';

/**
 * Reads what an execution of an escrow really did. A mined transaction proves nothing by itself: a token may answer
 * false and move nothing, and anyone may have executed something else. Success is the Safe's own ExecutionSuccess for
 * this very transaction together with exactly the expected movements out of the escrow, no more and no fewer. Whose
 * transaction it was does not matter: what two owners have signed, anyone may send.
 */

export interface ExpectedExecution {
  escrow: Address;
  safeTxHash: Hex;
  transfers: readonly TokenTransfer[];
}

export type ExecutionReading =
  | { succeeded: true }
  | { succeeded: false; reason: 'reverted' | 'not_executed' | 'transfers_differ' };

export function readExecution(
  receipt: Pick<TransactionReceipt, 'status' | 'logs'>,
  expected: ExpectedExecution,
): ExecutionReading {
  if (receipt.status !== 'success') return { succeeded: false, reason: 'reverted' };
  if (!wasExecuted(receipt, expected)) return { succeeded: false, reason: 'not_executed' };
  const moved = transfersOutOf(receipt, expected);
  const isExact =
    moved.length === expected.transfers.length &&
    expected.transfers.every((transfer, position) => isSameTransfer(transfer, moved[position]));
  return isExact ? { succeeded: true } : { succeeded: false, reason: 'transfers_differ' };
}

function wasExecuted({ logs }: Pick<TransactionReceipt, 'logs'>, expected: ExpectedExecution): boolean {
  const successes = parseEventLogs({ abi: safe.abi, eventName: 'ExecutionSuccess', logs });
  return successes.some(
    ({ address, args }) => isAddressEqual(address, expected.escrow) && args.txHash === expected.safeTxHash,
  );
}

/**
 * Of the tokens that were to move. The sender of the execution can log transfers of a token of its own beside it, or real
 * ones of nothing, and neither takes anything out of the escrow.
 */
function transfersOutOf(
  { logs }: Pick<TransactionReceipt, 'logs'>,
  { escrow, transfers }: ExpectedExecution,
): TokenTransfer[] {
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })
    .filter(({ args }) => isAddressEqual(args.from, escrow) && args.value > 0n)
    .filter(({ address }) => transfers.some(({ token }) => isAddressEqual(token, address)))
    .map(({ address, args }) => ({ token: address, to: args.to, amount: args.value }));
}

function isSameTransfer(expected: TokenTransfer, actual: TokenTransfer | undefined): boolean {
  return (
    actual !== undefined &&
    isAddressEqual(expected.token, actual.token) &&
    isAddressEqual(expected.to, actual.to) &&
    expected.amount === actual.amount
  );
}

/** Where an escrow stands, before anything is sent to it and again before a revert is called a failure. */
export type EscrowSight =
  /** Not deployed; so far it is only an address. */
  | { readonly state: 'absent' }
  /** Deployed, by any account, and its one transaction is unused. */
  | { readonly state: 'ready' }
  /** Its transaction is being used: not final, or not read by the watcher yet. */
  | { readonly state: 'executing' }
  /** The expected transaction was executed, for good. */
  | { readonly state: 'executed'; readonly receipt: TransactionReceipt }
  /** Another transaction was executed, or it is not the escrow that was planned: the expected one cannot happen. */
  | { readonly state: 'lost'; readonly reason: string };

export async function lookAtEscrow(
  db: Database,
  { client, settings }: ConnectedChain,
  escrow: Escrow,
  safeTxHash: Hex,
): Promise<EscrowSight> {
  const nonce = await safeNonce(client, escrow.address);
  if (nonce === undefined) return { state: 'absent' };
  if (nonce === 0n) {
    const isAsPlanned = await hasPlannedOwners(client, escrow, settings.contracts.safeSingleton);
    return isAsPlanned ? { state: 'ready' } : { state: 'lost', reason: 'the escrow has other owners' };
  }
  const fate = await fateOfUsedNonce(db, { client, settings }, escrow.address, safeTxHash, 0n);
  switch (fate.kind) {
    case 'executed':
      return { state: 'executed', receipt: fate.receipt };
    case 'unsettled':
      return { state: 'executing' };
    case 'used_otherwise':
      return { state: 'lost', reason: 'another transaction has used the escrow’s nonce' };
  }
}

/** What has become of a nonce that a signed transaction was meant for. Anyone who has the signatures may have sent it. */
export type NonceFate = { readonly kind: 'unused' } | UsedNonceFate;

type UsedNonceFate =
  /** Used, and not final or not read by the watcher yet. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'executed'; readonly receipt: TransactionReceipt }
  /** Another transaction has used it: this one can never happen. */
  | { readonly kind: 'used_otherwise' };

export async function nonceFate(
  db: Database,
  chain: ConnectedChain,
  escrow: Address,
  safeTxHash: Hex,
  nonce: bigint,
): Promise<NonceFate> {
  if ((await escrowNonce(chain.client, escrow)) <= nonce) return { kind: 'unused' };
  return fateOfUsedNonce(db, chain, escrow, safeTxHash, nonce);
}

async function fateOfUsedNonce(
  db: Database,
  { client, settings }: ConnectedChain,
  escrow: Address,
  safeTxHash: Hex,
  nonce: bigint,
): Promise<UsedNonceFate> {
  const { txHash, readTo } = await findExecution(db, settings.chainId, escrow, safeTxHash);
  if (txHash !== null) {
    const receipt = await findReceipt(client, [txHash]);
    const isSettled = receipt !== undefined && (await isFinal(client, receipt, settings.confirmations));
    return isSettled ? { kind: 'executed', receipt } : { kind: 'unsettled' };
  }
  // What was executed up to there is on record, so what has used the nonce by then was something else.
  const wasUsed = readTo >= 0n && (await escrowNonce(client, escrow, readTo)) > nonce;
  return { kind: wasUsed ? 'used_otherwise' : 'unsettled' };
}

/** The nonce of the escrow's next transaction; one that is not deployed yet begins at 0. */
export async function escrowNonce(
  client: ChainClient,
  escrow: Address,
  blockNumber?: bigint,
): Promise<bigint> {
  return (await safeNonce(client, escrow, blockNumber)) ?? 0n;
}

/** Undefined where there is no Safe at that moment. */
async function safeNonce(
  client: ChainClient,
  escrow: Address,
  blockNumber?: bigint,
): Promise<bigint | undefined> {
  const data = encodeFunctionData({ abi: safe.abi, functionName: 'nonce' });
  const at = blockNumber === undefined ? {} : { blockNumber };
  const answer = await answered(client.call({ to: escrow, data, ...at }));
  if (answer.data === undefined) return undefined;
  return decodeFunctionResult({ abi: safe.abi, functionName: 'nonce', data: answer.data });
}

/**
 * Its address follows from its owners and from the singleton, and only a transaction of its own could change them. It is
 * asked all the same: two signatures are about to be published for it.
 */
async function hasPlannedOwners(client: ChainClient, escrow: Escrow, singleton: Address): Promise<boolean> {
  const read = { abi: safe.abi, address: escrow.address } as const;
  const [owners, threshold, slot] = await answered(
    Promise.all([
      client.readContract({ ...read, functionName: 'getOwners' }),
      client.readContract({ ...read, functionName: 'getThreshold' }),
      client.getStorageAt({ address: escrow.address, slot: '0x0' }),
    ]),
  );
  const planned = ownersOf(escrow.parties).map((owner) => getAddress(owner));
  return (
    owners.length === planned.length &&
    planned.every((owner) => owners.includes(owner)) &&
    threshold === BigInt(ESCROW_THRESHOLD) &&
    BigInt(slot ?? 0) === BigInt(singleton)
  );
}
