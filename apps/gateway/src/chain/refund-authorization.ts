import { CausewayError, formatFixed, type RefundAuthorizationParametersSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Address, ChainSettings, ChainToken, Hex } from './chain-settings.ts';
import type { Escrow } from './escrow.ts';
import {
  EscrowSignerMismatchError,
  hashSafeTransaction,
  recoverOwner,
  type SafeTransaction,
  safeTypedData,
} from './safe-transaction.ts';
import { canonicalSignature, InvalidSignatureError } from './signature.ts';

/** The refund of a deposit as the seller signs it: the Safe's own transaction, which pays the seller and nobody else. */
export function refundParameters(
  settings: Pick<ChainSettings, 'publicRpcUrl'>,
  token: ChainToken,
  refund: { orderId: string; escrow: Escrow; transaction: SafeTransaction; deposit: bigint },
): Static<typeof RefundAuthorizationParametersSchema> {
  const { orderId, escrow, transaction, deposit } = refund;
  return {
    order_id: orderId,
    chain_id: escrow.chainId,
    rpc_url: settings.publicRpcUrl,
    escrow_address: escrow.address,
    token_address: token.address,
    amount_atomic: `${deposit}`,
    amount_human: formatFixed(deposit, token.decimals),
    crypto_currency: token.code,
    crypto_decimals: token.decimals,
    signer_address: escrow.parties.seller,
    recipient_address: escrow.parties.seller,
    safe_tx_hash: hashSafeTransaction(escrow, transaction),
    typed_data: typedDataToSign(escrow, transaction),
    authorization_path: `/api/v1/partner/orders/${orderId}/authorize-refund`,
  };
}

/** As a wallet takes it from JSON. */
export function typedDataToSign(
  escrow: Escrow,
  transaction: SafeTransaction,
): Static<typeof RefundAuthorizationParametersSchema>['typed_data'] {
  const { domain, types, primaryType } = safeTypedData(escrow, transaction);
  return {
    domain: { ...domain },
    types: { SafeTx: types.SafeTx.map(({ name, type }) => ({ name, type })) },
    primaryType,
    message: {
      ...transaction,
      value: `${transaction.value}`,
      safeTxGas: `${transaction.safeTxGas}`,
      baseGas: `${transaction.baseGas}`,
      gasPrice: `${transaction.gasPrice}`,
      nonce: `${transaction.nonce}`,
    },
  };
}

/**
 * Which of these owners signed, and the signature in the form the Safe takes. Another owner's is as wrong here as a
 * stranger's; what is no signature at all is the request's fault.
 */
export async function acceptOwnerSignature(
  escrow: Escrow,
  safeTxHash: Hex,
  owners: readonly ('seller' | 'buyer')[],
  signature: string,
): Promise<{ readonly signer: Address; readonly signature: Hex }> {
  const given = signature as Hex;
  const signer = await recoverOwner(escrow, safeTxHash, given).catch((cause: unknown) => {
    if (cause instanceof InvalidSignatureError) throw new CausewayError('INVALID_SIGNATURE', { cause });
    if (cause instanceof EscrowSignerMismatchError) {
      throw new CausewayError('ESCROW_SIGNER_MISMATCH', { cause });
    }
    throw cause;
  });
  if (!owners.some((owner) => escrow.parties[owner] === signer)) {
    throw new CausewayError('ESCROW_SIGNER_MISMATCH');
  }
  return { signer, signature: canonicalSignature(given) };
}
