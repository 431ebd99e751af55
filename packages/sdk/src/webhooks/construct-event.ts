import type { CausewayEvent } from '../events.ts';
import { requireNumber } from '../numbers.ts';
import { readRequest } from './read-body.ts';

/** Why a delivery was not accepted. */
export type WebhookErrorCode =
  /** The body was parsed before it was checked; the signature is over its bytes. */
  | 'BODY_NOT_RAW'
  /** More than 1 MiB, which no delivery is; what follows was not read. */
  | 'BODY_TOO_LARGE'
  /** No secret was given, or an empty one. */
  | 'SECRET_MISSING'
  | 'SIGNATURE_MISSING'
  | 'TIMESTAMP_MISSING'
  /** The delivery is older than the tolerance, or from the future: repeated by a third party, or a clock is wrong. */
  | 'TIMESTAMP_OUTSIDE_TOLERANCE'
  | 'SIGNATURE_MISMATCH'
  /** Signed, but not an event: never sent by the service. */
  | 'BODY_NOT_AN_EVENT';

export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** As any framework has them. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The body as it came over the network. */
export type RawBody = string | Uint8Array | ArrayBuffer;

export interface ConstructOptions {
  /** How old a delivery may be, and how far ahead; 300 by default, never without end. Each attempt is stamped anew. */
  readonly toleranceSeconds?: number;
  /** Unix seconds, in place of the machine's clock. */
  readonly now?: number;
}

export const SIGNATURE_HEADER = 'x-service-signature';
export const PREVIOUS_SIGNATURE_HEADER = 'x-service-signature-previous';
export const TIMESTAMP_HEADER = 'x-service-timestamp';
const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * The event of a delivery, after its signature has been checked: over the raw body, with this secret (or any of several), in
 * constant time, against both headers that a rotation of the secret sends. Throws `WebhookError`.
 *
 * @example const event = await constructEvent(rawBody, request.headers, process.env.WEBHOOK_SECRET);
 * @example const event = await constructEvent(await request.text(), request.headers, [newSecret, oldSecret], { toleranceSeconds: 60 });
 */
export async function constructEvent(
  body: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: ConstructOptions = {},
): Promise<CausewayEvent> {
  const { toleranceSeconds, now } = limitsOf(options);
  const bytes = bytesOf(body);
  const secrets = [secret].flat().filter(isSecret);
  if (secrets.length === 0)
    throw new WebhookError('SECRET_MISSING', 'constructEvent needs the webhook secret');
  const timestamp = headerOf(headers, TIMESTAMP_HEADER);
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookError('TIMESTAMP_MISSING', `the delivery has no ${TIMESTAMP_HEADER} in unix seconds`);
  }
  const given = [headerOf(headers, SIGNATURE_HEADER), headerOf(headers, PREVIOUS_SIGNATURE_HEADER)];
  const signatures = given.map(signatureOf).filter((one) => one !== undefined);
  if (signatures.length === 0) {
    throw new WebhookError(
      'SIGNATURE_MISSING',
      `the delivery has no ${SIGNATURE_HEADER} of the form sha256=<hex>`,
    );
  }
  if (!(await isSigned(`${timestamp}.`, bytes, secrets, signatures))) {
    throw new WebhookError('SIGNATURE_MISMATCH', 'no signature of the delivery was made with this secret');
  }
  // Written so that only a delivery that is within the tolerance passes.
  if (!(Math.abs(now - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookError(
      'TIMESTAMP_OUTSIDE_TOLERANCE',
      `the delivery was signed ${Math.round(now - Number(timestamp))} seconds ago`,
    );
  }
  return eventOf(bytes);
}

/** Throws a TypeError for what is no limit, such as a tolerance from a variable that is not set. */
export function limitsOf({
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
  now = Date.now() / 1_000,
}: ConstructOptions): Required<ConstructOptions> {
  return {
    toleranceSeconds: requireNumber('toleranceSeconds', toleranceSeconds, { finite: true }),
    now: requireNumber('now', now, { finite: true }),
  };
}

/** The same for a `Request` as edge runtimes, Hono and Next have it; its body is read. */
export async function constructEventFromRequest(
  request: Request,
  secret: string | readonly string[],
  options: ConstructOptions = {},
): Promise<CausewayEvent> {
  if (request.bodyUsed) throw notRaw();
  const body = await readRequest(request);
  if (body === undefined) throw new WebhookError('BODY_TOO_LARGE', 'no delivery has more than 1 MiB');
  return constructEvent(body, request.headers, secret, options);
}

/** A variable that is not set must not become a key that everybody knows, the word `null`. */
function isSecret(given: unknown): given is string {
  return typeof given === 'string' && given !== '';
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  }
  throw notRaw();
}

function notRaw(): WebhookError {
  return new WebhookError(
    'BODY_NOT_RAW',
    'the signature is over the raw body: take it as text or bytes, before a JSON parser does',
  );
}

/** Names in any case, and the first of several values. */
export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') {
    return (headers as { get(name: string): string | null | undefined }).get(name) ?? undefined;
  }
  const entries = Object.entries(headers as Readonly<Record<string, string | readonly string[] | undefined>>);
  const found = entries.find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

function signatureOf(header: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  const hex = /^sha256=([0-9a-fA-F]{64})$/.exec(header ?? '')?.[1];
  return hex === undefined
    ? undefined
    : Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** `verify` of Web Crypto compares in constant time; every pair is tried, so that the time tells nothing either. */
async function isSigned(
  prefix: string,
  body: Uint8Array,
  secrets: readonly string[],
  signatures: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const signed = signedBytes(prefix, body);
  let isGenuine = false;
  for (const secret of secrets) {
    const key = await hmacKey(secret, 'verify');
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isGenuine = true;
    }
  }
  return isGenuine;
}

export function signedBytes(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(prefix);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  return signed;
}

export function hmacKey(secret: string, use: 'sign' | 'verify') {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function eventOf(bytes: Uint8Array): CausewayEvent {
  let event: Partial<CausewayEvent> | null;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    event = null;
  }
  const { event_id: id, event_type: type, data } = event ?? {};
  if (typeof id !== 'string' || typeof type !== 'string' || typeof data !== 'object' || data === null) {
    throw new WebhookError('BODY_NOT_AN_EVENT', 'the body is signed, but it is not an event');
  }
  return event as CausewayEvent;
}
