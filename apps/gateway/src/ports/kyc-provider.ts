import type { KycTrigger } from '@causeway/protocol';

export type KycIdType = 'PASSPORT' | 'NATIONAL_ID' | 'DRIVERS_LICENSE' | 'RESIDENCE_PERMIT';
export type KycDocumentType = 'ID_FRONT' | 'ID_BACK' | 'SELFIE' | 'PROOF_OF_ADDRESS';

/** Who is to be verified. Countries are ISO 3166-1 alpha-2, the date of birth is ISO 8601. */
export interface KycPerson {
  readonly firstName: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
  readonly nationality: string;
  readonly idType: KycIdType;
  readonly idNumber: string;
  readonly idIssueCountry: string;
  readonly address: string;
  readonly city: string;
  readonly postalCode: string;
  readonly countryCode: string;
  readonly gender?: 'M' | 'F' | undefined;
  readonly email?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

export interface KycDocument {
  readonly documentId: string;
  readonly documentType: KycDocumentType;
  readonly contentType: string;
  readonly content: Uint8Array;
}

export interface KycSubmission {
  /** The key of the whole effect: starting the same submission again starts nothing new. */
  readonly submissionId: string;
  readonly method: 'direct_data' | 'hosted_link';
  readonly person: KycPerson;
  /** Empty for a hosted link, where the provider collects them. */
  readonly documents: readonly KycDocument[];
}

export interface StartedVerification {
  readonly submissionId: string;
  /** The provider's own name for the verification. */
  readonly reference: string;
  /** Where the customer goes on, for a hosted link. */
  readonly verificationUrl: string | null;
}

/** The triggers of the KYC machine that a provider may pull. */
export type KycOutcome = Extract<
  KycTrigger,
  'verification_passed' | 'verification_refused' | 'resubmission_requested' | 'review_requested'
>;

export interface KycVerdict {
  /** Equal for every delivery of one decision. */
  readonly eventId: string;
  readonly submissionId: string;
  readonly reference: string;
  readonly outcome: KycOutcome;
  readonly rejectionReasons: readonly string[];
  /** When the provider decided, epoch milliseconds: it orders verdicts that arrive out of order. */
  readonly decidedAtMs: number;
}

export interface KycCallback {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came: the signature covers these and nothing that was parsed from them. */
  readonly rawBody: Uint8Array;
}

export type CallbackReading =
  | { readonly kind: 'verdict'; readonly verdict: KycVerdict }
  /** Genuine, and nothing to do; it is acknowledged, or it would come again. */
  | { readonly kind: 'irrelevant' }
  | { readonly kind: 'refused'; readonly reason: 'bad_signature' | 'malformed' };

export interface KycProvider {
  readonly name: string;
  /** Safe to repeat after any failure. Throws `KycProviderError`. */
  startVerification(submission: KycSubmission): Promise<StartedVerification>;
  /** What a lost callback would have said; null while there is no decision. Throws `KycProviderError`. */
  readResult(started: Pick<StartedVerification, 'submissionId' | 'reference'>): Promise<KycVerdict | null>;
  readCallback(callback: KycCallback): CallbackReading;
}

/**
 * `unavailable`: try again later. `refused`: the provider will not take this submission however often it is sent.
 * `misconfigured`: our credentials or settings, a matter for the operator.
 */
export type KycProviderFailure = 'unavailable' | 'refused' | 'misconfigured';

/** Its message never carries personal data or what the provider wrote. */
export class KycProviderError extends Error {
  override readonly name = 'KycProviderError';
  readonly failure: KycProviderFailure;
  readonly retryAfterSeconds: number | undefined;

  constructor(failure: KycProviderFailure, message: string, retryAfterSeconds?: number) {
    super(message);
    this.failure = failure;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
