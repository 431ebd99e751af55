/** Why something is not signed: what does not fit, and what was expected there. */
export type RefusalReason =
  /** The parameters are of another order. */
  | 'ORDER_MISMATCH'
  | 'CHAIN_MISMATCH'
  | 'FORWARDER_MISMATCH'
  | 'ROUTER_MISMATCH'
  /** The escrow is not the one that follows from its owners and the order. */
  | 'ESCROW_MISMATCH'
  /** You are not the owner that you should be, or the service is another. */
  | 'OWNER_MISMATCH'
  | 'TOKEN_MISMATCH'
  | 'AMOUNT_MISMATCH'
  /** The order's own fees do not follow from its amount and percentages. */
  | 'FEE_MISMATCH'
  | 'NONCE_MISMATCH'
  | 'DEADLINE_PASSED'
  | 'DEADLINE_TOO_FAR'
  /** It pays another than you expect. */
  | 'RECIPIENT_MISMATCH'
  | 'SOLVER_NOT_TRUSTED'
  | 'DESTINATION_MISMATCH'
  /** The parameters want another wallet's signature. */
  | 'SIGNER_MISMATCH'
  /** The call is not the one that moves exactly this. */
  | 'CALLDATA_MISMATCH'
  /** A field of the typed data is not what it must be. */
  | 'TYPED_DATA_MISMATCH'
  /** It would also move the chain's own coin, or allow more gas than such a call needs. */
  | 'VALUE_NOT_ZERO'
  | 'GAS_TOO_HIGH'
  /** What the signer answered was not made by your wallet for this. */
  | 'SIGNATURE_MISMATCH'
  /** What you gave to compare with is incomplete. */
  | 'EXPECTATION_MISSING';

export class SigningRefusedError extends Error {
  override readonly name = 'SigningRefusedError';
  readonly reason: RefusalReason;
  /** Where in the parameters, such as `forward_request.nonce`. */
  readonly field: string;
  readonly expected: string;
  readonly actual: string;

  constructor(reason: RefusalReason, field: string, expected: unknown, actual: unknown) {
    super(`not signed: ${field} is ${text(actual)}, expected ${text(expected)} (${reason})`);
    this.reason = reason;
    this.field = field;
    this.expected = text(expected);
    this.actual = text(actual);
  }
}

function text(value: unknown): string {
  const written = typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  return written.length > 300 ? `${written.slice(0, 300)}…` : written;
}

/** Refuses unless the two are equal; addresses and calldata in any case of their letters. */
export function requireSame(reason: RefusalReason, field: string, expected: unknown, actual: unknown): void {
  const isSame = plain(expected) === plain(actual);
  if (!isSame) throw new SigningRefusedError(reason, field, expected, actual);
}

function plain(value: unknown): string {
  const written = typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  return /^0x[0-9a-f]*$/i.test(written) ? written.toLowerCase() : written;
}
