import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSensitiveKey, maskText, REDACTED, redact } from './redaction.ts';

const SENSITIVE_KEYS = [
  ...[
    'x-api-key',
    'X-API-Key',
    'api_key',
    'apiKey',
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
  ],
  ...[
    'secret',
    'webhook_secret',
    'private_key',
    'wallet_private_key',
    'SERVICE_SIGNER_KEY',
    'DATA_ENCRYPTION_KEY',
  ],
  ...[
    'password',
    'signature',
    'X-Service-Signature',
    'X-Service-Signature-Previous',
    'operator_key',
    'DATABASE_URL',
    'DATABASE_DIRECT_URL',
    'rpc_urls',
    'rpcUrl',
  ],
  ...[
    'email',
    'phone_number',
    'first_name',
    'last_name',
    'full_name',
    'date_of_birth',
    'id_number',
    'address',
  ],
  ...['account_number', 'iban', 'details', 'vendor_payment_details', 'payment_details', 'recipient_name'],
  ...[
    'recipient_native_name',
    'recipient_id_number',
    'recipient_business_registration_number',
    'sender_name',
  ],
  ...['account_holder_name', 'postal_code', 'city', 'nationality', 'gender', 'content', 'detail'],
];
const HARMLESS_KEYS = [
  ...[
    'order_id',
    'payment_details_id',
    'status',
    'escrow_address',
    'wallet_address',
    'tx_hash',
    'chain',
    'token',
  ],
  ...[
    'name',
    'code',
    'constraint',
    'idempotency_key',
    'key_id',
    'crypto_transfer_authorization_pending',
    'rate',
    'public_rpc_url',
  ],
];
const TX_HASH = `0x${'ab12'.repeat(16)}`;

const sensitiveKey = fc.constantFrom(...SENSITIVE_KEYS);
const harmlessKey = fc.constantFrom(...HARMLESS_KEYS);
const MARKER = 'ZZmarkerZZ';

describe('sensitive keys', () => {
  it('are recognised however they are spelled, and harmless ones stay readable', () => {
    expect(SENSITIVE_KEYS.filter((key) => !isSensitiveKey(key))).toEqual([]);
    expect(HARMLESS_KEYS.filter(isSensitiveKey)).toEqual([]);
  });
});

describe('redact', () => {
  // Proves trap 27.
  it('lets no value of a sensitive field through, at any depth, in objects, arrays, maps, sets and errors', () => {
    const leaf = fc.record({
      key: sensitiveKey,
      value: fc.constantFrom<unknown>(MARKER, [MARKER], { x: MARKER }),
    });
    const wrapper = fc.constantFrom('object', 'array', 'map', 'set', 'error', 'cause', 'aggregate', 'toJSON');
    fc.assert(
      fc.property(
        leaf,
        fc.array(fc.tuple(wrapper, harmlessKey), { maxLength: 12 }),
        ({ key, value }, wrappers) => {
          let tree: unknown = { [key]: value };
          for (const [kind, around] of wrappers) tree = wrap(kind, around, tree);
          expect(JSON.stringify(redact(tree))).not.toContain(MARKER);
        },
      ),
    );
  });

  it('keeps what is harmless exactly as it was', () => {
    const line = {
      order_id: 'o1',
      tx_hash: TX_HASH,
      count: 3,
      ok: true,
      none: null,
      list: [1, { chain: 'base' }],
    };
    expect(redact(line)).toEqual(line);
  });

  it('keeps that a sensitive value is absent or a flag', () => {
    const given = { email: null, secret: undefined, has_signature: true };
    expect(redact(given)).toEqual({ email: null, secret: undefined, has_signature: true });
    expect(redact({ pin: 1234, email: '' })).toEqual({ pin: REDACTED, email: REDACTED });
  });

  it('masks the value that follows a sensitive name in raw header lists', () => {
    const rawHeaders = ['Host', 'a', 'X-API-Key', MARKER, 'Authorization', MARKER];
    expect(redact({ rawHeaders })).toEqual({
      rawHeaders: ['Host', 'a', 'X-API-Key', REDACTED, 'Authorization', REDACTED],
    });
    expect(JSON.stringify(redact([['authorization', MARKER]]))).not.toContain(MARKER);
  });

  it('writes bigint, dates, bytes, urls and broken objects as short text', () => {
    const broken = Object.defineProperty({}, 'x', { enumerable: true, get: () => expect.fail(MARKER) });
    expect(
      redact({
        amount: 12345678901234567890n,
        at: new Date(0),
        never: new Date(Number.NaN),
        bytes: Buffer.from(MARKER),
        url: new URL(`https://user:${MARKER}@example.com/`),
        broken,
        callback: () => MARKER,
      }),
    ).toEqual({
      amount: '12345678901234567890',
      at: '1970-01-01T00:00:00.000Z',
      never: 'invalid date',
      bytes: '[10 bytes]',
      url: `https://${REDACTED}@example.com/`,
      broken: '[unreadable]',
      callback: undefined,
    });
  });

  it('ends on cycles, depth and size', () => {
    const cycle: Record<string, unknown> = { id: 1 };
    cycle.self = cycle;
    expect(redact(cycle)).toEqual({ id: 1, self: '[circular]' });

    let deep: unknown = 'bottom';
    for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
    expect(JSON.stringify(redact(deep))).toContain('[cut off]');

    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]));
    expect(Object.keys(redact(wide) as object).length).toBe(101);
    expect((redact(Array(5000).fill(1)) as unknown[]).length).toBe(101);
    const bushy = Array(100).fill(Array(100).fill(Array(100).fill({ a: 'text' })));
    expect(JSON.stringify(redact(bushy)).length).toBeLessThan(50_000);
    expect(JSON.stringify(redact('y'.repeat(1_000_000))).length).toBeLessThan(5000);
  });

  it('reduces requests and responses to method, path and status', () => {
    class Request {
      id = 'r1';
      headers = { 'x-api-key': MARKER };
      body = { note: MARKER };
      get method() {
        return 'GET';
      }
      get url() {
        return `/api/v1/partner/recipients?search=${MARKER}`;
      }
    }
    class Reply {
      raw = { note: MARKER };
      statusCode = 200;
    }
    expect(redact({ req: new Request(), res: new Reply() })).toEqual({
      req: { id: 'r1', method: 'GET', url: '/api/v1/partner/recipients' },
      res: { statusCode: 200 },
    });
  });
});

describe('maskText', () => {
  it.each([
    ['key cw_test_4fKd93kDkfj39fkD was refused', 'key cw_test_[redacted] was refused'],
    ['cw_live_abcdEFGH1234,cw_widget_abcdEFGH1234', 'cw_live_[redacted],cw_widget_[redacted]'],
    ['xcw_operator_abcdEFGH1234 cw_vendor_abcdEFGH', 'xcw_operator_[redacted] cw_vendor_[redacted]'],
    ['signed with whsec_abcdEFGH1234', 'signed with whsec_[redacted]'],
    ['postgres://causeway:hunter2@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['URL: https://node.example/v2/a1b2c3\nRequest', 'URL: https://node.example/[redacted]\nRequest'],
    ['sent Bearer abc.def-ghi to them', 'sent Bearer [redacted] to them'],
    ['user jane.doe+1@mail.example.com exists', 'user [redacted] exists'],
    ['Key (account_number)=(0123456789) already exists.', 'Key (account_number)=[redacted] already exists.'],
    ['{"first_name":"Jane \\"J\\" Doe","country":"NG"}', '{"first_name":[redacted],"country":"NG"}'],
    ['{\\"id_number\\":\\"A1234\\",\\"x\\":1}', '{\\"id_number\\":[redacted],\\"x\\":1}'],
    ['{\\"iban\\":\\"DE \\\\\\"89\\\\\\" 37\\",\\"x\\":1}', '{\\"iban\\":[redacted],\\"x\\":1}'],
    ['cut off in {"password":"hunt', 'cut off in {"password":[redacted]'],
    ['full_name: Jane Doe, order 7', 'full_name: [redacted], order 7'],
    [`private_key=${TX_HASH}`, 'private_key=[redacted]'],
    [`signed 0x${'a1'.repeat(65)}.`, 'signed [redacted].'],
  ])('masks %s', (text, expected) => {
    expect(maskText(text)).toBe(expected);
  });

  it.each([
    `tx ${TX_HASH} confirmed`,
    'listen EADDRINUSE: address already in use 127.0.0.1:8080',
    'Details: execution reverted',
    'order awaiting_crypto_transfer_authorization: no signer',
    'node_modules/@opentelemetry/api/index.js:10:3',
    'basic usage of the API',
  ])('leaves readable: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });

  it('takes linear time on crafted text', () => {
    const crafted = [
      'a'.repeat(8000),
      '//'.repeat(4000),
      `${'a'.repeat(4000)}@`,
      'email:'.repeat(1300),
      '\\'.repeat(8000),
    ];
    for (const pattern of ['password="', "password='", 'email:"\\', 'Bearer ', '0x'])
      crafted.push(pattern.repeat(800));
    // The best of a few: the machine may be busy with something else.
    const times = Array.from({ length: 3 }, () => {
      const start = performance.now();
      for (const text of crafted) maskText(text);
      return performance.now() - start;
    });
    expect(Math.min(...times)).toBeLessThan(1000);
  });
});

function wrap(kind: string, around: string, inner: unknown): unknown {
  switch (kind) {
    case 'array':
      return [1, inner];
    case 'map':
      return new Map([[around, inner]]);
    case 'set':
      return new Set([inner]);
    case 'error':
      return Object.assign(new Error('failed'), { [around]: inner });
    case 'cause':
      return new Error('failed', { cause: inner });
    case 'aggregate':
      return new AggregateError([inner], 'failed');
    case 'toJSON':
      return { toJSON: () => inner };
    default:
      return { [around]: inner };
  }
}
