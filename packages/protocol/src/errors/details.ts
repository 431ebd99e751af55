import { Type } from 'typebox';

/** The shapes of `error.details`, one for each code that has any. Everything else answers `{}`. */

const fieldProblem = Type.Object({
  path: Type.String({ description: 'Where the problem is, e.g. `fiat_amount` or `details.account_number`.' }),
  message: Type.String({ description: 'What is wrong with it.' }),
});

const fieldNames = Type.Array(Type.String());

export const fieldProblemsDetails = Type.Object({ fields: Type.Array(fieldProblem) });

export const missingFieldsDetails = Type.Object({ missing_fields: fieldNames });

export const invalidStatusDetails = Type.Object({
  status: Type.String({ description: 'The status the order, quote or other resource is in.' }),
  allowed_actions: Type.Array(Type.String(), {
    description:
      'What this caller can do with it now, by the names of its own endpoints; an operator’s as `endpoint:decision`.',
  }),
  applicable_events: Type.Optional(
    Type.Array(Type.String(), { description: 'Sandbox only: the events that apply to the order now.' }),
  ),
});

export const operationNotAllowedDetails = Type.Object({
  applicable_events: Type.Optional(
    Type.Array(Type.String(), { description: 'Sandbox only: the events that apply to the order now.' }),
  ),
});

const keyClass = (description: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.Literal('partner'),
        Type.Literal('widget'),
        Type.Literal('session'),
        Type.Literal('vendor'),
        Type.Literal('operator'),
      ],
      { description },
    ),
  );

export const unauthorizedDetails = Type.Object({
  required_key: keyClass('The class of key that the route takes.'),
  given_key: keyClass('The class of the key that was sent, where it is another one.'),
});

export const forbiddenDetails = Type.Object({
  role: Type.String({ description: 'The role of the user.' }),
  required_capability: Type.String({ description: 'What the role would have to include.' }),
});

export const lockedDetails = Type.Object({
  retry_after_seconds: Type.Integer({ description: 'When it can be tried again; also in Retry-After.' }),
});

export const signerDetails = Type.Object({
  expected_signer: Type.String({ description: 'The wallet that has to sign.' }),
  expected_signers: Type.Optional(
    Type.Array(Type.String(), { description: 'Where any of several wallets may sign.' }),
  ),
  recovered_signer: Type.Union([Type.String(), Type.Null()], {
    description:
      'The wallet that the signature recovers to, over the data that was issued; null for what is no signature. Other data than what was issued, or another chain id, recovers to an address that no one knows.',
  }),
});

export const webhookUrlDetails = Type.Object({
  cause: Type.Union(
    [
      Type.Literal('not_a_url'),
      Type.Literal('https_required'),
      Type.Literal('credentials'),
      Type.Literal('port_not_allowed'),
      Type.Literal('address_not_allowed'),
    ],
    {
      description:
        'not_a_url: no absolute URL, or too long. https_required: another scheme. credentials: a user or password in it. port_not_allowed: not 443 or 8443. address_not_allowed: the host is not public.',
    },
  ),
});

export const expiredCursorDetails = Type.Object({
  oldest_cursor: Type.String({ description: 'Going on from here misses nothing that is still kept.' }),
});

export const kycNotClearedDetails = Type.Object({
  kyc_status: Type.Union(
    [
      Type.Literal('IN_PROGRESS'),
      Type.Literal('UNDER_REVIEW'),
      Type.Literal('PENDING_DOCUMENTS'),
      Type.Literal('VERIFICATION_REJECTED'),
      Type.Literal('NOT_INITIATED'),
      Type.Literal('REJECTED'),
    ],
    { description: 'UNDER_REVIEW is a manual review of up to 24 hours. New values may be added.' },
  ),
});

export const senderIdentityDetails = Type.Object({
  missing_fields: Type.Array(Type.String(), { description: 'What the rail needs and the KYC record lacks.' }),
  kyc_fields: Type.Array(Type.String(), { description: 'Those of them that PATCH /users/{id}/kyc takes.' }),
  field_limits: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description: 'Character ceiling by field; absent when no listed field has one.',
    }),
  ),
});

/** What can keep offers from serving an estimate or a quote, in the order in which it is told. */
export const EXCLUSION_CONDITIONS = [
  'pair',
  'no_vendor_online',
  'provider_scope',
  'settlement_notification',
  'country',
  'rail',
  'payment_method',
  'amount_range',
  'liquidity',
] as const;
export type ExclusionCondition = (typeof EXCLUSION_CONDITIONS)[number];

const excludedBy = Type.Optional(
  Type.Array(
    Type.Object({
      condition: Type.Unsafe<ExclusionCondition>({
        type: 'string',
        enum: [...EXCLUSION_CONDITIONS],
        description:
          'pair: no vendor trades it. liquidity: what is left would serve no amount. New ones may be added.',
        examples: ['amount_range'],
      }),
      available: Type.Optional(
        Type.Array(Type.String(), { description: 'With provider_scope, country and rail: what would do.' }),
      ),
      currency: Type.Optional(Type.String({ description: 'With amount_range: of the two amounts.' })),
      min_amount: Type.Optional(Type.String({ description: 'The least that would be served.' })),
      max_amount: Type.Optional(Type.String({ description: 'The greatest that would be served.' })),
    }),
    {
      description:
        'The conditions of the request that the nearest offers fail, those that fail the fewest. Absent at initiate.',
    },
  ),
);

export const noOffersDetails = Type.Object({ excluded_by: excludedBy });

export const amountRangeDetails = Type.Object({
  currency: Type.Optional(Type.String()),
  min_amount: Type.Optional(Type.String({ description: 'The smallest amount that can be served.' })),
  max_amount: Type.Optional(Type.String({ description: 'The largest amount that can be served.' })),
  excluded_by: excludedBy,
});

export const fieldDetails = Type.Object({
  field: Type.Optional(Type.String({ description: 'The field that was not accepted.' })),
});

export const destinationDetails = Type.Object({
  ...fieldDetails.properties,
  destination_chains: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Where the chain was not accepted: the slugs that this order can be sent out to.',
    }),
  ),
});

export const walletFundsDetails = Type.Object({
  token_address: Type.String(),
  wallet_address: Type.String({ description: 'The partner wallet that is to pay.' }),
  spender_address: Type.String({ description: 'The router, which moves the tokens.' }),
  required: Type.String({ description: 'In atomic units of the token.' }),
  actual: Type.String({ description: 'In atomic units of the token.' }),
  approve_calldata: Type.Optional(
    Type.String({ description: 'Send it from the wallet to token_address to approve what is required.' }),
  ),
});

export const walletNotAllowedDetails = Type.Object({
  reason: Type.Union(
    [
      Type.Literal('checksum'),
      Type.Literal('zero_address'),
      Type.Literal('service_address'),
      Type.Literal('contract'),
      Type.Literal('vendor_wallet'),
      Type.Literal('partner_wallet'),
      Type.Literal('escrow'),
    ],
    {
      description:
        'checksum: mistyped. zero_address: has no key. service_address: belongs to this service, a token included. contract: off-ramp only, a contract cannot sign the transfer. vendor_wallet, partner_wallet, escrow: in use for that. New ones may be added.',
    },
  ),
});

export const webhookDeliveryDetails = Type.Object({
  http_status: Type.Optional(
    Type.Integer({ description: 'What the endpoint answered; absent when it did not answer in time.' }),
  ),
});

export const unavailableDetails = Type.Object({
  failing: Type.Optional(
    Type.Array(
      Type.Object({
        check: Type.String({ description: 'What is missing, e.g. `database` or `rates`.' }),
        reason: Type.String({ description: 'For people; may be reworded at any time.' }),
      }),
      { description: 'Only `/ready` tells.' },
    ),
  ),
});

export const rateLimitedDetails = Type.Object({
  retry_after: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Seconds to wait, as in the Retry-After header.' }),
  ),
});

export const emailCodeDetails = Type.Object({
  attempts_left: Type.Integer({
    minimum: 0,
    description: 'Tries that are left for the code; 0: a new one is needed.',
  }),
});

export const openOrderLimitDetails = Type.Object({
  scope: Type.Union([Type.Literal('partner'), Type.Literal('customer')], {
    description: 'Whose limit it is: the partner’s, over all its customers, or this customer’s.',
  }),
  limit: Type.Integer({ minimum: 0 }),
  current: Type.Integer({ minimum: 0, description: 'What is open now, the refused order not counted.' }),
  unit: Type.Union([Type.Literal('orders'), Type.Literal('usd')], {
    description: 'What is counted: orders, or their value in whole dollars.',
  }),
});

export const approvalRequiredDetails = Type.Object({
  approval_id: Type.String({
    description: 'The request that waits for another person; see GET /operator/approvals/{approval_id}.',
  }),
  expires_at: Type.String({ description: 'Until when it can be approved; ISO 8601, UTC.' }),
  amount_usd: Type.Union([Type.String(), Type.Null()], {
    description: 'What the decision moves, in US dollars, as a decimal; null where no current rate tells.',
  }),
});

export const approvalClosedDetails = Type.Object({
  status: Type.String({ description: 'approved, rejected, expired or failed.' }),
});
