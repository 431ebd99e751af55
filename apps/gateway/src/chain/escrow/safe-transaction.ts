import { multiSendCallOnly, safe } from '@causeway/contracts';
import {
  concatHex,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  hashTypedData,
  size,
  zeroAddress,
} from 'viem';
import type { Address, ContractCall, Hex, TokenTransfer } from '../chain-settings.ts';
import { canonicalSignature, recoverSigner } from '../signers/signature.ts';
import { ESCROW_THRESHOLD, type Escrow, ownersOf } from './escrow.ts';

/**
 * A transaction of the escrow's Safe: what the owners sign, and how it is executed.
 *
 * A release and a refund both have the Safe nonce 0, so the chain admits a single one of them: both can be signed, but
 * only one can ever happen. What is returned besides has the nonce that the Safe has then. safeTxGas and gasPrice are 0, so a failing transfer reverts the whole
 * execution instead of using the nonce up.
 */
export interface SafeTransaction {
  to: Address;
  value: bigint;
  data: Hex;
  operation: 0 | 1;
  safeTxGas: bigint;
  baseGas: bigint;
  gasPrice: bigint;
  gasToken: Address;
  refundReceiver: Address;
  nonce: bigint;
}

const CALL = 0;
const DELEGATE_CALL = 1;
const ESCROW_NONCE = 0n;

const safeTxTypes = {
  SafeTx: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
    { name: 'operation', type: 'uint8' },
    { name: 'safeTxGas', type: 'uint256' },
    { name: 'baseGas', type: 'uint256' },
    { name: 'gasPrice', type: 'uint256' },
    { name: 'gasToken', type: 'address' },
    { name: 'refundReceiver', type: 'address' },
    { name: 'nonce', type: 'uint256' },
  ],
} as const;

/** A signature that is not one of the escrow's owners', or too few different ones. */
export class EscrowSignerMismatchError extends Error {
  override readonly name = 'EscrowSignerMismatchError';
}

/** All transfers happen or none: several are batched by MultiSendCallOnly, which the Safe runs in its own context. */
export function payoutTransaction(
  transfers: readonly TokenTransfer[],
  multiSendAddress: Address,
  nonce = ESCROW_NONCE,
): SafeTransaction {
  const calls = transfers.map(transferCall);
  const [first, ...others] = calls;
  if (first === undefined) throw new Error('a payout moves something');
  const isSingle = others.length === 0;
  return {
    to: isSingle ? first.to : multiSendAddress,
    value: 0n,
    data: isSingle ? first.data : encodeMultiSend(calls),
    operation: isSingle ? CALL : DELEGATE_CALL,
    safeTxGas: 0n,
    baseGas: 0n,
    gasPrice: 0n,
    gasToken: zeroAddress,
    refundReceiver: zeroAddress,
    nonce,
  };
}

/** The Safe's own EIP-712 `SafeTx`, as an owner's wallet signs it. */
export function safeTypedData(escrow: Escrow, transaction: SafeTransaction) {
  return {
    domain: { chainId: escrow.chainId, verifyingContract: escrow.address },
    types: safeTxTypes,
    primaryType: 'SafeTx',
    message: transaction,
  } as const;
}

export function hashSafeTransaction(escrow: Escrow, transaction: SafeTransaction): Hex {
  return hashTypedData(safeTypedData(escrow, transaction));
}

/**
 * Which owner made this signature; throws `EscrowSignerMismatchError` when none did, and `InvalidSignatureError` when it
 * is no signature at all.
 */
export async function recoverOwner(escrow: Escrow, safeTxHash: Hex, signature: Hex): Promise<Address> {
  const signer = recoverSigner(safeTxHash, signature);
  if (!ownersOf(escrow.parties).includes(signer)) {
    throw new EscrowSignerMismatchError(`${signer} does not own the escrow ${escrow.address}`);
  }
  return signer;
}

/** Checks every signature before gas is spent on it, and orders them by owner as the Safe demands. */
export async function packSignatures(
  escrow: Escrow,
  safeTxHash: Hex,
  signatures: readonly Hex[],
): Promise<Hex> {
  const byOwner = new Map<Address, Hex>();
  for (const signature of signatures) {
    byOwner.set(await recoverOwner(escrow, safeTxHash, signature), canonicalSignature(signature));
  }
  if (byOwner.size < ESCROW_THRESHOLD) {
    throw new EscrowSignerMismatchError(`${byOwner.size} of ${ESCROW_THRESHOLD} owners have signed`);
  }
  const inOwnerOrder = [...byOwner].sort(([left], [right]) => (BigInt(left) < BigInt(right) ? -1 : 1));
  return concatHex(inOwnerOrder.map(([, signature]) => signature));
}

export function executionCall(
  escrow: Escrow,
  transaction: SafeTransaction,
  packedSignatures: Hex,
): ContractCall {
  const { to, value, data, operation, safeTxGas, baseGas, gasPrice, gasToken, refundReceiver } = transaction;
  return {
    to: escrow.address,
    value: 0n,
    data: encodeFunctionData({
      abi: safe.abi,
      functionName: 'execTransaction',
      args: [
        to,
        value,
        data,
        operation,
        safeTxGas,
        baseGas,
        gasPrice,
        gasToken,
        refundReceiver,
        packedSignatures,
      ],
    }),
  };
}

/**
 * Several calls as one, made by MultiSendCallOnly itself: any failure undoes all of them. With it an escrow that was
 * only ever an address is deployed and emptied in a single transaction.
 */
export function batchCall(calls: readonly ContractCall[], multiSendAddress: Address): ContractCall {
  return { to: multiSendAddress, value: 0n, data: encodeMultiSend(calls) };
}

function transferCall({ token, to, amount }: TokenTransfer): ContractCall {
  return {
    to: token,
    value: 0n,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
  };
}

function encodeMultiSend(calls: readonly ContractCall[]): Hex {
  const packed = calls.map(({ to, value, data }) =>
    encodePacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [CALL, to, value, BigInt(size(data)), data],
    ),
  );
  return encodeFunctionData({
    abi: multiSendCallOnly.abi,
    functionName: 'multiSend',
    args: [concatHex(packed)],
  });
}
