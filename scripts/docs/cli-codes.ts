import {
  ERROR_CODES,
  ERROR_KEY_CATALOGUE,
  errorEntry,
  FAILURE_CODES,
  HOLD_REASON_CODES,
  HOLD_REASONS,
  ORDER_FAILURES,
  ORDER_STATUSES,
  PATTERN_WORDS,
  SANDBOX_ORDER_EVENTS,
} from '../../packages/protocol/src/index.ts';

/**
 * packages/cli/src/generated/codes.ts: what the command line knows of the protocol's catalogues. As plain data, because the
 * protocol itself would bring all of its schemas along into the bundle.
 */
export function renderCliCodes(): string {
  const codes = [
    ...ERROR_CODES.map((code) => {
      const { status, message, retryable, doc } = errorEntry(code);
      return [code, { kind: 'error', http_status: status, message, retryable, doc }] as const;
    }),
    ...Object.entries(ERROR_KEY_CATALOGUE).map(
      ([key, { status, doc }]) => [key, { kind: 'error_key', http_status: status, doc }] as const,
    ),
    ...FAILURE_CODES.map((code) => {
      const { message, retryable, when } = ORDER_FAILURES[code];
      return [code, { kind: 'order_failure', message, retryable, doc: when }] as const;
    }),
    ...HOLD_REASON_CODES.map((code) => [code, { kind: 'order_hold', doc: HOLD_REASONS[code].when }] as const),
  ];
  if (new Set(codes.map(([code]) => code)).size !== codes.length)
    throw new Error('two catalogues share a code');
  return `// Generated from packages/protocol: \`npm run docs\`.

export interface CodeEntry {
  readonly kind: 'error' | 'error_key' | 'order_failure' | 'order_hold';
  readonly http_status?: number;
  readonly message?: string;
  readonly retryable?: boolean;
  /** When it happens, and what to do about it. */
  readonly doc: string;
}

/** Errors of requests, keys of the supported-resources endpoints, why orders stop and why they are held. */
export const CODES: Readonly<Record<string, CodeEntry>> = ${JSON.stringify(Object.fromEntries(codes), null, 2)};

export const ORDER_STATUSES: readonly string[] = ${JSON.stringify(ORDER_STATUSES, null, 2)};

/** What a sandbox can be told to make happen to an order. */
export const SANDBOX_ORDER_EVENTS: readonly string[] = ${JSON.stringify(SANDBOX_ORDER_EVENTS, null, 2)};

/** What a text that does not match a pattern is told, in the words of the API. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = ${JSON.stringify(PATTERN_WORDS, null, 2)};
`;
}
