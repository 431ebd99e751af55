import {
  AUTHORIZATION_ISSUED,
  AUTHORIZATION_LIVE,
  CausewayError,
  formatFixed,
  type RefundAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, ChainSettings, ChainToken, Hex } from '../chain-settings.ts';
import type { Escrow } from '../escrow/escrow.ts';
import { hashSafeTransaction, type SafeTransaction, safeTypedData } from '../escrow/safe-transaction.ts';
import { canonicalSignature, InvalidSignatureError, recoverSigner } from '../signers/signature.ts';
import { sameAddress } from '../watcher/chain-facts.ts';
import { authorizationsLike, authorize } from './authorization.store.ts';
import {
  type Authorization,
  type AuthorizationPurpose,
  contextOf,
  differingField,
  type GivenRequest,
  matchIssued,
  requestOf,
} from './authorization.ts';
import { hashForwardRequest } from './forward-request.ts';
import { nextNonce } from './forwarder-nonces.store.ts';

export interface SignedAuthorization {
  readonly orderId: string;
  readonly purpose: AuthorizationPurpose;
  readonly forwardRequest: GivenRequest;
  readonly signature: string;
  /** Only for a send-out: both must be those of the parameters call. */
  readonly destination?: { readonly chain: string; readonly address: string };
}

/**
 * Takes what a partner sends back: exactly what was issued, signed by the wallet it was issued for, with a nonce that
 * is the wallet's next. From here on it may be executed by anyone until its deadline, so an order has one at a time.
 * Nothing leaves the process; relaying it is an intent of the same unit.
 */
export async function acceptAuthorization(
  unit: UnitOfWork,
  settings: Pick<ChainSettings, 'chainId' | 'contracts'>,
  given: SignedAuthorization,
): Promise<Authorization> {
  const known = await authorizationsLike(unit, given.orderId, given.purpose, given.forwardRequest);
  const isSpent = ({ status }: Authorization) => status !== AUTHORIZATION_ISSUED;
  const isSame = (authorization: Authorization) =>
    differingField(authorization, given.forwardRequest) === undefined;
  if (known.some((authorization) => isSpent(authorization) && isSame(authorization))) {
    throw new CausewayError('NONCE_ALREADY_USED');
  }
  const issued = matchDestination(
    known.filter(({ status }) => status === AUTHORIZATION_ISSUED),
    given,
  );
  if (issued.length === 0) {
    throw new CausewayError('INVALID_FORWARD_REQUEST', {
      message: 'Read the authorization parameters first.',
    });
  }
  const match = matchIssued(issued, given.forwardRequest);
  if (unit.at > match.expiresAt) throw changed('deadline', 'The forward request has expired.');
  requireSignature(settings, match, given.signature);
  await takeNonce(unit, match);
  const signature = canonicalSignature(given.signature as Hex);
  if (!(await authorize(unit, match.authorizationId, signature))) {
    throw new CausewayError('NONCE_ALREADY_USED');
  }
  return { ...match, status: AUTHORIZATION_LIVE, signature };
}

function matchDestination(
  issued: readonly Authorization[],
  { destination }: SignedAuthorization,
): readonly Authorization[] {
  if (destination === undefined || issued.length === 0) return issued;
  const toChain = issued.filter(({ bridge }) => bridge?.destinationChain === destination.chain);
  if (toChain.length === 0) throw elsewhere('destination_chain');
  const toAddress = toChain.filter(({ bridge }) =>
    sameAddress(bridge?.destinationAddress ?? '', destination.address),
  );
  if (toAddress.length === 0) throw elsewhere('destination_address');
  return toAddress;
}

function requireSignature(
  settings: Pick<ChainSettings, 'chainId' | 'contracts'>,
  match: Authorization,
  signature: string,
): void {
  const digest = hashForwardRequest(contextOf(settings, match), requestOf(match));
  const signer = signerOf(digest, signature);
  if (signer !== null && sameAddress(signer, match.sender)) return;
  throw new CausewayError('INVALID_SIGNATURE', { details: mismatch([match.sender], signer) });
}

/** Null for what is no signature at all. */
function signerOf(digest: Hex, signature: string): Address | null {
  try {
    return recoverSigner(digest, signature as Hex);
  } catch (error) {
    if (error instanceof InvalidSignatureError) return null;
    throw error;
  }
}

/** Both are public: the signer finds out which of its keys it used, or that it signed something else. */
function mismatch(expected: readonly Address[], recovered: Address | null) {
  return {
    expected_signer: expected[0] ?? '',
    ...(expected.length > 1 ? { expected_signers: [...expected] } : {}),
    recovered_signer: recovered,
  };
}

/** Under the lock of the wallet's nonces: two orders cannot both be the next. */
async function takeNonce(unit: UnitOfWork, match: Authorization): Promise<void> {
  const next = await nextNonce(unit, match, match.partnerId, 0n);
  if (match.nonce < next) throw new CausewayError('NONCE_ALREADY_USED');
  // What was ahead of it has lapsed without using its nonce, which has to be used before this one's.
  if (match.nonce > next)
    throw changed('nonce', 'The nonce is no longer the next one; read the parameters again.');
}

function changed(field: string, message: string): CausewayError {
  return new CausewayError('INVALID_FORWARD_REQUEST', { details: { field }, message });
}

function elsewhere(field: string): CausewayError {
  return new CausewayError('INVALID_DESTINATION', { details: { field } });
}

/** A transaction of an escrow's Safe that empties it, and which owner is asked to sign it. */
export interface PayoutToSign {
  readonly orderId: string;
  readonly purpose: 'refund' | 'release';
  readonly escrow: Escrow;
  readonly transaction: SafeTransaction;
  /** What the recipient gets. */
  readonly amount: bigint;
  readonly signer: EscrowOwner;
}

/** The owners of an escrow beside the service. */
export type EscrowOwner = 'seller' | 'buyer';

/** A refund pays the seller, a release the buyer; both are signed the same way. */
export function payoutParameters(
  settings: Pick<ChainSettings, 'publicRpcUrl'>,
  token: ChainToken,
  { orderId, purpose, escrow, transaction, amount, signer }: PayoutToSign,
): Static<typeof RefundAuthorizationParametersSchema> {
  return {
    order_id: orderId,
    chain_id: escrow.chainId,
    rpc_url: settings.publicRpcUrl,
    escrow_address: escrow.address,
    token_address: token.address,
    amount_atomic: `${amount}`,
    amount_human: formatFixed(amount, token.decimals),
    crypto_currency: token.code,
    crypto_decimals: token.decimals,
    signer_address: escrow.parties[signer],
    recipient_address: escrow.parties[purpose === 'refund' ? 'seller' : 'buyer'],
    safe_tx_hash: hashSafeTransaction(escrow, transaction),
    typed_data: typedDataToSign(escrow, transaction),
    authorization_path: `/api/v1/partner/orders/${orderId}/authorize-${purpose}`,
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
 * third party's; what is no signature at all is the request's fault.
 */
export async function acceptOwnerSignature(
  escrow: Escrow,
  safeTxHash: Hex,
  owners: readonly EscrowOwner[],
  signature: string,
): Promise<{ readonly signer: Address; readonly signature: Hex }> {
  const wanted = owners.map((owner) => escrow.parties[owner]);
  const signer = signerOf(safeTxHash, signature);
  const details = mismatch(wanted, signer);
  if (signer === null) throw new CausewayError('INVALID_SIGNATURE', { details });
  if (!wanted.includes(signer)) throw new CausewayError('ESCROW_SIGNER_MISMATCH', { details });
  return { signer, signature: canonicalSignature(signature as Hex) };
}
