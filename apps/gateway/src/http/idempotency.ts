import { CausewayError } from '@causeway/protocol';
import { statement } from '../db/statement.ts';
import type { UnitOfWork } from '../engine/unit-of-work.ts';
import { sha256Hex } from '../lib/crypto.ts';

/**
 * Idempotency-Key: the answer is stored in the transaction of the work it answers for, so there is no moment
 * in which the work is done and the answer is not. While the first request runs it holds an advisory
 * lock on the key; if its process dies, the lock goes with the connection and so does the work.
 */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

export interface RequestIdentity {
  readonly partnerId: string;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
}

/** Answers repeat what a person told, so they are kept sealed, and what was asked with them. */
export interface AnswerSealer {
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
}

const KEEP_MS = 24 * 60 * 60 * 1_000;

const lockKey = statement<[lockName: string], { locked: boolean }>(
  'idempotency.lock',
  'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
);

const findAnswer = statement<
  [partnerId: string, key: string, keptSince: Date],
  { fingerprint: string; status: number; body: string }
>(
  'idempotency.find',
  `SELECT fingerprint, status, body FROM idempotent_answers
    WHERE partner_id = $1 AND idempotency_key = $2 AND created_at > $3`,
);

const storeAnswer = statement<
  [partnerId: string, key: string, fingerprint: string, status: number, body: string, at: Date]
>(
  'idempotency.store',
  `INSERT INTO idempotent_answers (partner_id, idempotency_key, fingerprint, status, body, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (partner_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
     status = excluded.status, body = excluded.body, created_at = excluded.created_at`,
);

export const forgetAnswers = statement<[before: Date]>(
  'idempotency.forget',
  'DELETE FROM idempotent_answers WHERE created_at <= $1',
);

export function answersKeptSince(at: Date): Date {
  return new Date(at.getTime() - KEEP_MS);
}

export function fingerprintOf(method: string, path: string, body: unknown): string {
  return sha256Hex(`${method}\n${path}\n${body === undefined || body === null ? '' : canonicalJson(body)}`);
}

/** The same object written with its fields in another order is the same request. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** Answers what was stored, or null when the work is ours to do (the key is then locked until commit). */
export async function claimIdempotencyKey(
  unit: UnitOfWork,
  request: RequestIdentity,
  sealer: AnswerSealer | null,
): Promise<StoredAnswer | null> {
  // Two statements: the look-up must see what the holder of the lock committed just before letting go.
  const [[lock], [found]] = await unit.tx.queryBoth(
    lockKey,
    [`${request.partnerId}:${request.idempotencyKey}`],
    findAnswer,
    [request.partnerId, request.idempotencyKey, answersKeptSince(unit.at)],
  );
  if (found !== undefined) {
    const { fingerprint, body } = sealer === null ? found : unsealed(sealer, request, found.body);
    if (fingerprint !== request.fingerprint) throw new CausewayError('IDEMPOTENCY_KEY_REUSED');
    return { status: found.status, body };
  }
  if (!lock?.locked) throw new CausewayError('IDEMPOTENCY_IN_PROGRESS');
  // What follows can be undone without letting go of the lock.
  unit.tx.mark();
  return null;
}

export function keepAnswer(
  unit: UnitOfWork,
  request: RequestIdentity,
  answer: StoredAnswer,
  sealer: AnswerSealer | null,
): void {
  // The fingerprint goes into the seal as well: from a short body its hash could be guessed.
  const [fingerprint, body] =
    sealer === null
      ? [request.fingerprint, answer.body]
      : ['', sealer.seal(request.fingerprint + answer.body, answerContext(request))];
  unit.tx.defer(storeAnswer, [
    request.partnerId,
    request.idempotencyKey,
    fingerprint,
    answer.status,
    body,
    unit.at,
  ]);
}

/** Where a kept answer belongs: sealed for this place, it opens nowhere else. */
export function answerContext(request: Pick<RequestIdentity, 'partnerId' | 'idempotencyKey'>): string {
  return `idempotent_answers:${request.partnerId}:${request.idempotencyKey}`;
}

const FINGERPRINT_LENGTH = 64;

function unsealed(
  sealer: AnswerSealer,
  request: RequestIdentity,
  sealed: string,
): { readonly fingerprint: string; readonly body: string } {
  const text = sealer.open(sealed, answerContext(request));
  return { fingerprint: text.slice(0, FINGERPRINT_LENGTH), body: text.slice(FINGERPRINT_LENGTH) };
}
