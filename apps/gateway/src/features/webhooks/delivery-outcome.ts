import { WEBHOOK_RETRY_SCHEDULE } from '../../lib/backoff.ts';
import type { AttemptLogEntry, ClaimedDelivery } from './delivery.store.ts';
import type { SendResult, WebhookAnswer } from './webhook-sender.ts';

/** What one attempt came to, as it is stored and shown to the partner. */
export interface DeliveryOutcome {
  readonly partnerId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  /** Attempts that were behind it when it was claimed. */
  readonly attempts: number;
  readonly delivered: boolean;
  /** Null when it was delivered or when no attempt is left. */
  readonly retryAt: Date | null;
  readonly error: string | null;
  readonly logEntry: AttemptLogEntry;
}

/** Spreads retries of deliveries that failed together; too little for anyone who waits for the promised delay. */
const JITTER_MS = 1_000;

export function outcomeOf(
  claimed: ClaimedDelivery,
  result: SendResult,
  startedAt: Date,
  now: number,
  random: () => number,
): DeliveryOutcome {
  const delivered = result.kind === 'answered' && result.status >= 200 && result.status < 300;
  const error = delivered ? null : result.kind === 'failed' ? result.reason : 'not_acknowledged';
  return {
    partnerId: claimed.partner_id,
    endpointId: claimed.endpoint_id,
    deliveryId: claimed.delivery_id,
    attempts: claimed.attempts,
    delivered,
    retryAt: delivered ? null : retryAt(claimed.attempts + 1, now, random),
    error,
    logEntry: {
      at: startedAt.toISOString(),
      http_status: result.kind === 'answered' ? result.status : null,
      duration_ms: result.durationMs,
      error,
      response: result.kind === 'answered' ? printable(result.excerpt) : null,
      ...(result.sent === null ? {} : { url: claimed.webhook_url, sent: result.sent }),
      ...(result.kind === 'answered' ? answerToKeep(result) : {}),
    },
  };
}

/** When to try again after this many failed attempts; never before the contract's delay has passed. */
export function retryAt(failedAttempts: number, now: number, random: () => number): Date | null {
  const delaySeconds = WEBHOOK_RETRY_SCHEDULE.delayBeforeAttempt(failedAttempts + 1);
  if (delaySeconds === null) return null;
  return new Date(now + Math.ceil(delaySeconds * 1_000) + Math.floor(random() * JITTER_MS));
}

const MOST_HEADERS = 20;
const LONGEST_HEADER_NAME = 64;
const LONGEST_HEADER_VALUE = 256;
/** Sessions are the receiver's own business; the rest says nothing about the answer, and every answer has it. */
const HEADERS_NOT_KEPT = new Set([
  ...['set-cookie', 'set-cookie2', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'],
]);

function answerToKeep({ headers, cut }: WebhookAnswer): Pick<AttemptLogEntry, 'response_headers' | 'cut'> {
  return { response_headers: headersToKeep(headers), ...(cut ? { cut } : {}) };
}

/** What an answer's headers help to find out, within bounds: a receiver may answer with as many as it likes. */
function headersToKeep(headers: WebhookAnswer['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HEADERS_NOT_KEPT.has(name)) continue;
    if (++count > MOST_HEADERS) break;
    const text = typeof value === 'string' ? value : value.join(', ');
    kept[printable(name.slice(0, LONGEST_HEADER_NAME))] = printable(text.slice(0, LONGEST_HEADER_VALUE));
  }
  return kept;
}

/** A receiver may answer anything; what cannot be stored or would disturb a terminal becomes a dot. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '·');
}
