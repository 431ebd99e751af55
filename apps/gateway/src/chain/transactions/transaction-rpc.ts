import {
  BaseError,
  ExecutionRevertedError,
  keccak256,
  parseSignature,
  RpcRequestError,
  serializeTransaction,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  type TransactionSerializableEIP1559,
} from 'viem';
import type { Address, ContractCall, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { AnswerTooLongError } from '../rpc/rpc-node.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { isSignedBy } from '../signers/signature.ts';
import type { TransactionRecord } from './transaction.store.ts';
import { type FeeLimits, type Fees, firstFees } from './transaction-fees.ts';

/**
 * The transactor's questions to a node. A node that does not answer is `ChainUnavailableError`: nothing is known then,
 * and the question is asked again later. Error texts of the client library carry the node's address, which may hold a
 * provider's key, so only their harmless part goes on.
 */

export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
  /** A node did answer, and would not do what was asked: asking for less may help, asking again does not. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

/** The node says that this call would revert now: it was not sent. */
export class CallRevertsError extends Error {
  override readonly name = 'CallRevertsError';
}

const MAX_ERROR_LENGTH = 300;

export async function estimateGas(client: ChainClient, sender: Address, call: ContractCall): Promise<bigint> {
  try {
    const estimate = await client.estimateGas({ account: sender, ...call });
    // State may change before it is mined, and what is not used is not paid for.
    return estimate + estimate / 4n;
  } catch (error) {
    if (error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError)) {
      throw new CallRevertsError(describeRpcError(error));
    }
    throw unavailable(error);
  }
}

export async function currentFees(client: ChainClient, limits: FeeLimits): Promise<Fees> {
  const [block, priorityFeePerGas] = await answered(
    Promise.all([client.getBlock(), client.estimateMaxPriorityFeePerGas()]),
  );
  return firstFees(block.baseFeePerGas ?? 0n, priorityFeePerGas, limits);
}

export function nonceAt(
  client: ChainClient,
  address: Address,
  at: { blockTag: 'latest' | 'pending' } | { blockNumber: bigint },
): Promise<number> {
  return answered(client.getTransactionCount({ address, ...at }));
}

export function headNumber(client: ChainClient): Promise<bigint> {
  return answered(client.getBlockNumber({ cacheTime: 0 }));
}

/** The receipt of whichever of these transactions was mined: they share a nonce, so at most one was. */
export async function findReceipt(
  client: ChainClient,
  hashes: readonly Hex[],
): Promise<TransactionReceipt | undefined> {
  for (const hash of hashes.toReversed()) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw unavailable(error);
    }
  }
  return undefined;
}

/** Whether the block of a receipt has this many blocks on it, itself included, and is still part of the chain. */
export async function isFinal(
  client: ChainClient,
  receipt: TransactionReceipt,
  confirmations: number,
): Promise<boolean> {
  const head = await headNumber(client);
  if (head - receipt.blockNumber + 1n < BigInt(confirmations)) return false;
  return (await answered(client.agreedBlockHash(receipt.blockNumber))) === receipt.blockHash;
}

/** Why a node would not take a transaction, as far as its words tell. */
interface Refusal {
  readonly complaint: string;
  readonly cause: 'too_cheap' | 'no_funds' | 'other';
}

// Sending the same bytes again is how this service retries, so a node that has them already is content.
const KNOWN_ALREADY = /already ?(known|imported|exists)|\bknown transaction/i;
const TOO_CHEAP =
  /underpriced|fee ?too ?low|less than block base fee|too low for the next block|below (current base fee|configured minimum)|ReplacementNotAllowed/i;
const NO_FUNDS = /insufficient ?funds|enough funds|exceeds transaction sender account balance/i;

/** Undefined when the node took it, otherwise what it said. Either way only the chain shows what came of it. */
export async function broadcast(client: ChainClient, raw: Hex): Promise<Refusal | undefined> {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw });
    return undefined;
  } catch (error) {
    const complaint = describeRpcError(error);
    if (KNOWN_ALREADY.test(complaint)) return undefined;
    const cause = NO_FUNDS.test(complaint) ? 'no_funds' : TOO_CHEAP.test(complaint) ? 'too_cheap' : 'other';
    return { complaint, cause };
  }
}

export async function answered<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    throw unavailable(error);
  }
}

/** Only the client library's own errors mean that a node is out of reach; anything else is a fault and stays one. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error;
  const isVerdict = (cause: unknown) =>
    cause instanceof RpcRequestError || cause instanceof AnswerTooLongError;
  const isRefusal = error.walk(isVerdict) !== null;
  return new ChainUnavailableError(describeRpcError(error), isRefusal);
}

function describeRpcError(error: unknown): string {
  if (!(error instanceof BaseError)) throw error;
  const text = `${error.name}: ${error.shortMessage} ${error.details ?? ''}`;
  return text
    .replaceAll(/\b\w+:\/\/\S+/g, '[address]')
    .trim()
    .slice(0, MAX_ERROR_LENGTH);
}

/** Encodes and signs an EIP-1559 transaction with a key that only ever sees the digest. */
export async function signTransaction(
  signer: Signer,
  record: Pick<TransactionRecord, 'chainId' | 'nonce' | 'call' | 'gas'>,
  fees: Fees,
): Promise<{ raw: Hex; txHash: Hex }> {
  const unsigned: TransactionSerializableEIP1559 = {
    type: 'eip1559',
    chainId: record.chainId,
    nonce: record.nonce,
    gas: record.gas,
    ...record.call,
    maxFeePerGas: fees.maxFeePerGas,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
  };
  const digest = keccak256(serializeTransaction(unsigned));
  const signature = await signer.signDigest(digest);
  // A remote key that is not the one configured would otherwise spend another account's nonce.
  if (!isSignedBy(signer.address, digest, signature)) {
    throw new Error(`the signer of ${signer.address} signed with another key`);
  }
  const raw = serializeTransaction(unsigned, parseSignature(signature));
  return { raw, txHash: keccak256(raw) };
}
