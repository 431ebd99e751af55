import { Type } from 'typebox';
import { Nullable, Timestamp, TimestampInput, Uuid } from './common.ts';

/** The log of API requests, as partners and vendors read their own and operators read all of it. */

const CURSOR_PATTERN = '^[0-9]{1,18}$';

const loggedRequest = {
  cursor: Type.String({ description: 'Give it as `after` to read what followed', examples: ['42'] }),
  at: Type.Unsafe<string>({
    ...Timestamp,
    description: 'When the request arrived; never a moved clock of a sandbox',
  }),
  request_id: Type.String({ description: '`X-Request-Id` of the answer' }),
  key: Type.Object(
    { key_id: Uuid, hint: Nullable(Type.String({ examples: ['cw_test_…x4Kq'] })) },
    { description: 'The API key, as operators see it in the list of keys' },
  ),
  method: Type.String({ examples: ['POST'] }),
  route: Nullable(
    Type.String({
      description: 'Its pattern; null where no route has the path',
      examples: ['/api/v1/partner/orders/:order_id'],
    }),
  ),
  path: Type.String({
    description: 'Ids are kept; any other value stands as `…`',
    examples: ['/api/v1/partner/orders/0199aa9f-3333-7c41-9d0e-6b1f5a3c2d10'],
  }),
  query: Nullable(
    Type.String({
      description: 'Ids, numbers, times and words of a list are kept; free text stands as `…`',
      examples: ['status=completed&reference_id=…'],
    }),
  ),
  status: Type.Integer({ examples: [409] }),
  error_code: Nullable(Type.String({ examples: ['QUOTE_EXPIRED'] })),
  error_fields: Type.Array(Type.String(), {
    description: 'Names of the fields that were refused, without their values',
    examples: [['fiat_amount']],
  }),
  duration_ms: Type.Number({
    description: 'From arrival to the answer, or to the beginning of a stream',
    examples: [12.4],
  }),
  order_id: Nullable(Uuid),
  idempotency_key: Type.Boolean({ description: 'Whether an `Idempotency-Key` was sent' }),
  idempotent_replay: Type.Boolean({
    description: 'Whether the answer was that of an earlier request with the same key',
  }),
  api_version: Nullable(Type.String({ examples: ['v1'] })),
  caller_network: Nullable(
    Type.String({
      description: 'Address of the caller, cut to its /24 (IPv4) or /64 (IPv6)',
      examples: ['203.0.113.0/24'],
    }),
  ),
  user_agent: Nullable(
    Type.String({ description: 'Names and versions of the programs only', examples: ['causeway-sdk/0.1.0'] }),
  ),
};

export const LoggedRequestSchema = Type.Object(loggedRequest);

export const OperatorLoggedRequestSchema = Type.Object({
  ...loggedRequest,
  partner_id: Nullable(Uuid),
  vendor_id: Nullable(Uuid),
});

const RequestLogPage = Type.Object({
  limit: Type.Integer({ examples: [20] }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Where to go on, as `cursor`; with `after` it is there even where nothing has followed yet',
    examples: [null],
  }),
});

export const RequestLogSchema = Type.Object({
  requests: Type.Array(LoggedRequestSchema),
  pagination: RequestLogPage,
});

export const OperatorRequestLogSchema = Type.Object({
  requests: Type.Array(OperatorLoggedRequestSchema),
  pagination: RequestLogPage,
});

export const RequestLogQuery = Type.Object({
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](?:xx|[0-9]{2})$',
      description: 'A status, or a class of them such as `4xx`',
      examples: ['4xx'],
    }),
  ),
  error_code: Type.Optional(Type.String({ pattern: '^[A-Z][A-Z_]{2,59}$', examples: ['VALIDATION_ERROR'] })),
  method: Type.Optional(Type.String({ pattern: '^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$', examples: ['POST'] })),
  order_id: Type.Optional(Uuid),
  request_id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:-]{1,128}$',
      examples: ['0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10-7'],
    }),
  ),
  from: Type.Optional(TimestampInput('Inclusive')),
  to: Type.Optional(TimestampInput('Exclusive')),
  after: Type.Optional(
    Type.String({
      pattern: CURSOR_PATTERN,
      description: 'Oldest first, from behind this cursor; `0` is the oldest request that is kept',
      examples: ['42'],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      pattern: CURSOR_PATTERN,
      description: '`next_cursor` of the page before, with the same filters',
      examples: ['42'],
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 20, examples: [20] }),
});

export const OperatorRequestLogQuery = Type.Object({
  partner_id: Type.Optional(Uuid),
  vendor_id: Type.Optional(Uuid),
  ...RequestLogQuery.properties,
});
