import { keccak256, parseSignature, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import type { Hex } from './chain-settings.ts';
import { isSignedBy } from './signature.ts';
import type { Signer } from './signer.ts';
import type { TransactionRecord } from './transaction.store.ts';
import type { Fees } from './transaction-fees.ts';

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
