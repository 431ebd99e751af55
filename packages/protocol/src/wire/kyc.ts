import { Type } from 'typebox';
import { CountryCodeInput, literals, Timestamp, Uuid } from './common.ts';
import { KycStatusSchema } from './user.ts';

export const KYC_METHODS = ['direct_data', 'hosted_link'] as const;
export const KYC_ID_TYPES = ['PASSPORT', 'NATIONAL_ID', 'DRIVERS_LICENSE', 'RESIDENCE_PERMIT'] as const;
export const KYC_GENDERS = ['M', 'F'] as const;
export const SOURCES_OF_FUNDS = [
  'SALARY',
  'BUSINESS_INCOME',
  'SAVINGS',
  'INVESTMENTS',
  'INHERITANCE',
  'GIFT',
  'LOAN',
  'SALE_OF_ASSETS',
  'PENSION',
  'OTHER',
] as const;
export const KYC_DOCUMENT_TYPES = ['ID_FRONT', 'ID_BACK', 'SELFIE', 'PROOF_OF_ADDRESS'] as const;
export type KycDocumentType = (typeof KYC_DOCUMENT_TYPES)[number];
export const KYC_CONTENT_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'application/pdf'] as const;
export type KycContentType = (typeof KYC_CONTENT_TYPES)[number];

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const DocumentTypes = Type.Array(literals(KYC_DOCUMENT_TYPES));

/** What a submission says of a person. `hosted_link` may leave out what its own pages ask for. */
export const KycSubmissionInput = Type.Object({
  method: literals(KYC_METHODS),
  first_name: Type.Optional(Text(200)),
  last_name: Type.Optional(Text(200)),
  date_of_birth: Type.Optional(
    Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', examples: ['1990-12-31'] }),
  ),
  gender: Type.Optional(literals(KYC_GENDERS)),
  nationality: Type.Optional(CountryCodeInput),
  id_type: Type.Optional(literals(KYC_ID_TYPES)),
  id_number: Type.Optional(Text(100)),
  id_issue_country: Type.Optional(CountryCodeInput),
  address: Type.Optional(Text(500)),
  city: Type.Optional(Text(200)),
  postal_code: Type.Optional(Text(40)),
  country_code: Type.Optional(CountryCodeInput),
  phone_number: Type.Optional(Text(40)),
  source_of_funds: Type.Optional(literals(SOURCES_OF_FUNDS)),
});

export const KycSubmissionSchema = Type.Object({
  submission_id: Uuid,
  kyc_status: KycStatusSchema,
  method: literals(KYC_METHODS),
  required_documents: DocumentTypes,
  verification_url: Type.Optional(
    Type.String({ description: 'Where the customer continues; hosted_link only' }),
  ),
});

export const KycDocumentInput = Type.Object({
  document_type: literals(KYC_DOCUMENT_TYPES),
  content_type: literals(KYC_CONTENT_TYPES),
  content: Type.String({ minLength: 1, description: 'The file in base64' }),
});

export const KycDocumentSchema = Type.Object({
  document_id: Uuid,
  document_type: literals(KYC_DOCUMENT_TYPES),
  kyc_status: KycStatusSchema,
  required_documents: Type.Array(literals(KYC_DOCUMENT_TYPES), { description: 'Those still missing' }),
});

export const KycSubmissionListSchema = Type.Object({
  status: KycStatusSchema,
  missing_fields: Type.Array(Type.String(), {
    description: 'Fields that direct_data needs and that are not known yet',
    examples: [['date_of_birth']],
  }),
  submissions: Type.Array(
    Type.Object({
      submission_id: Uuid,
      method: literals(KYC_METHODS),
      required_documents: Type.Array(literals(KYC_DOCUMENT_TYPES), { description: 'Those still missing' }),
      documents: Type.Array(
        Type.Object({
          document_id: Uuid,
          document_type: literals(KYC_DOCUMENT_TYPES),
          content_type: literals(KYC_CONTENT_TYPES),
          size_bytes: Type.Integer({ examples: [148_213] }),
          state: literals(['received', 'stored', 'replaced']),
          created_at: Timestamp,
        }),
      ),
      created_at: Timestamp,
    }),
    { description: 'Newest first; the first one counts. At most 50' },
  ),
});

export const VerificationStatusSchema = Type.Object({
  status: KycStatusSchema,
  rejection_reasons: Type.Optional(Type.Array(Type.String())),
  updated_at: Timestamp,
});

const ONCE_ONLY = 'Taken only while the KYC record has none';
const ONCE_OR_SHORTENED = `${ONCE_ONLY}, or to shorten the one it has`;

/** Values are judged one by one, each with a code of its own; the schema only wants an object. */
export const KycPatchInput = Type.Object(
  {
    gender: Type.Optional(Type.Unknown({ description: 'M or F' })),
    nationality: Type.Optional(Type.Unknown({ description: 'ISO 3166-1 alpha-2' })),
    id_issue_country: Type.Optional(Type.Unknown({ description: 'ISO 3166-1 alpha-2' })),
    source_of_funds: Type.Optional(Type.Unknown({ description: SOURCES_OF_FUNDS.join(', ') })),
    id_type: Type.Optional(Type.Unknown({ description: KYC_ID_TYPES.join(', ') })),
    address: Type.Optional(Type.Unknown({ description: 'Text' })),
    city: Type.Optional(Type.Unknown({ description: 'Text' })),
    postal_code: Type.Optional(Type.Unknown({ description: 'Text' })),
    phone_number: Type.Optional(Type.Unknown({ description: 'With the country code, as in +442079460958' })),
    first_name: Type.Optional(Type.Unknown({ description: ONCE_OR_SHORTENED })),
    last_name: Type.Optional(Type.Unknown({ description: ONCE_OR_SHORTENED })),
    id_number: Type.Optional(Type.Unknown({ description: ONCE_ONLY })),
  },
  { description: 'A field sent blank is left as it is; one unacceptable value and nothing is written' },
);

export const KycPatchSchema = Type.Object({ updated_fields: Type.Array(Type.String()) });

export const IdentitySchema = Type.Object({
  items: Type.Array(
    Type.Object({
      field: Type.String(),
      status: literals(['present', 'missing']),
      source: Type.Union([literals(['kyc', 'profile']), Type.Null()], {
        description: 'Where the value comes from; null while it is missing',
      }),
    }),
  ),
  missing: Type.Array(Type.String()),
});

/** A message has at most so many bytes, and so has every part of it. */
const MESSAGE_BYTES = 256 * 1024;
const MessageText = (options: object) => Type.Optional(Type.String({ maxLength: MESSAGE_BYTES, ...options }));

/** Described only: each provider has its own message, which is read once its signature is known to be right. */
export const KycCallbackInput = Type.Object(
  {
    eventId: MessageText({ description: 'A repeated event changes nothing' }),
    submissionId: Type.Optional(Uuid),
    reference: MessageText({ description: 'What the provider calls the verification' }),
    outcome: Type.Optional(
      literals(['verification_passed', 'verification_refused', 'resubmission_requested', 'review_requested']),
    ),
    rejectionReasons: Type.Optional(
      Type.Array(Type.String({ maxLength: MESSAGE_BYTES, examples: ['DOCUMENT_UNREADABLE'] }), {
        maxItems: MESSAGE_BYTES,
      }),
    ),
    decidedAtMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Unix milliseconds',
        examples: [1_794_650_400_000],
      }),
    ),
  },
  {
    description:
      'The message of the provider that is configured: shown is that of the sandbox’s simulated provider; Sumsub sends its `applicantReviewed`',
  },
);

export const KycCallbackHeaders = Type.Object({
  'X-Simulated-Kyc-Signature': Type.Optional(
    Type.String({ description: 'Hex HMAC-SHA256 of the body; Sumsub signs in `X-Payload-Digest`' }),
  ),
});
