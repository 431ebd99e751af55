/**
 * The bank that opens accounts for customers. Every call that changes something carries a key and is safe to repeat: the
 * same key is the same client, account or transfer. Calls are made by workers, never inside a transaction.
 */
export interface BankingPort {
  /** What the bank opens, and where. */
  readonly offered: readonly BankOffer[];
  /** Throws `BankingError`. */
  submitClient(client: BankClient): Promise<BankReference>;
  /** Null while the bank has not decided. */
  readClient(reference: string): Promise<ClientDecision | null>;
  openAccount(requested: AccountRequest): Promise<BankReference>;
  /** Null while the bank is still opening it. */
  readAccount(reference: string): Promise<OpenedAccount | null>;
  /** Moves money that is on an account here to another account. */
  transfer(order: BankTransfer): Promise<BankReference>;
  /** What came in after the cursor, oldest first; a transfer may be reported any number of times. */
  paymentsAfter(cursor: string | null): Promise<PaymentPage>;
  /** One transfer that came in, as the bank has it now; null where it knows none of this id. */
  readPayment(transactionId: string): Promise<IncomingPayment | null>;
}

export interface BankOffer {
  readonly currency: string;
  /** ISO 3166-1 alpha-2. */
  readonly jurisdictions: readonly string[];
}

export interface BankReference {
  /** The bank's own name for it. */
  readonly reference: string;
}

export interface BankClient {
  readonly key: string;
  readonly firstName: string;
  readonly lastName: string;
  /** ISO 8601. */
  readonly dateOfBirth: string;
  readonly nationality: string;
  readonly address: string;
  readonly city: string;
  readonly postalCode: string;
  readonly countryCode: string;
  readonly phoneNumber: string | undefined;
}

export type ClientDecision =
  | { readonly outcome: 'approved' }
  | { readonly outcome: 'rejected'; readonly reasons: readonly string[] };

export interface AccountRequest {
  readonly key: string;
  readonly clientReference: string;
  readonly holderName: string;
  readonly currency: string;
  readonly jurisdiction: string;
}

export interface OpenedAccount {
  readonly iban: string;
  readonly bic: string;
  readonly bankName: string;
}

export interface BankTransfer {
  readonly key: string;
  readonly fromAccount: string;
  readonly to:
    | { readonly kind: 'partner_master'; readonly partnerId: string }
    | {
        readonly kind: 'vendor';
        readonly vendorId: string;
        readonly details: Readonly<Record<string, string>>;
      };
  readonly currency: string;
  /** Minor units. */
  readonly amount: bigint;
}

export interface IncomingPayment {
  /** Unique at the bank: two reports with one id are one transfer. */
  readonly transactionId: string;
  readonly accountReference: string;
  readonly currency: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly senderName: string | null;
  readonly reference: string | null;
  /** The bank wants a person to look at it before it pays anything. */
  readonly forReview?: boolean;
}

export interface PaymentPage {
  readonly payments: readonly IncomingPayment[];
  /** From where to go on; as it was where nothing came. */
  readonly cursor: string | null;
}

/** `unavailable`: nothing is known, ask again. `refused`: the bank will not do it however often it is asked. */
export type BankingFailure = 'unavailable' | 'refused';

/** Its message carries neither personal data nor what the bank wrote. */
export class BankingError extends Error {
  override readonly name = 'BankingError';
  readonly failure: BankingFailure;

  constructor(failure: BankingFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
