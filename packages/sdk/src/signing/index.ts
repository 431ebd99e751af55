/** Signing what moves your crypto, after it has been held against what you know. */
export { type Address, checksumAddress, type Hex } from './bytes.ts';
export { type Decoded, type DecodedCall, decodeTransaction, decodeTypedData } from './decode.ts';
export { CANONICAL_CONTRACTS, type EscrowOwners, escrowAddress, type TrustedContracts } from './escrow.ts';
export { type NonceRequest, readForwarderNonce } from './forwarder-nonce.ts';
export { type RefusalReason, SigningRefusedError } from './refusal.ts';
export {
  type BridgeToSign,
  type OrderToSign,
  type PayoutToSign,
  type Reviewed,
  reviewBridge,
  reviewEscrowPayout,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  type TransferToSign,
  type Trust,
} from './review.ts';
export { type ChainToTrust, type SandboxFile, trustOfChain, trustOfSandbox } from './sandbox-trust.ts';
export { signBridge, signRefund, signRelease, signReviewed, signTransfer } from './sign.ts';
export {
  eip1193Signer,
  ethersSigner,
  kmsSigner,
  privateKeySigner,
  type Signer,
  viemSigner,
} from './signers.ts';
export { hashTypedData, type TypedData, type TypedDataHashes, typedDataHashes } from './typed-data.ts';
export {
  reviewVendorFunding,
  reviewVendorRefund,
  reviewVendorRelease,
  signVendorRefund,
  signVendorRelease,
  type VendorFundingToSend,
  type VendorOrderToSign,
  type VendorPayoutToSign,
} from './vendor.ts';
