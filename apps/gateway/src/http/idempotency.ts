import { CausewayError } from '@causeway/protocol';
import { type Statement, statement } from '../db/statement.ts';
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

/** Whose key it is: two callers may use the same one. An operator is known by the API key it calls with. */
export interface KeyOwner {
  readonly kind: 'partner' | 'vendor' | 'operator';
  readonly id: string;
}

export interface RequestIdentity {
  readonly owner: KeyOwner;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
}

/** Answers repeat what a person told, so they are kept sealed, and what was asked with them. */
export interface AnswerSealer {
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
}

const KEEP_MS = 24 * 60 * 60 * 1_000;
/** Longer than any work that leaves the process may take; after it, whoever took the key is taken for dead. */
const RUNNING_MS = 60_000;

const lockKey = statement<[lockName: string], { locked: boolean }>(
  'idempotency.lock',
  'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
);

interface FoundAnswer {
  fingerprint: string;
  status: number;
  body: string;
  /** Null where the answer is there; false where whoever was to give it is gone. */
  running: boolean | null;
}

interface AnswerTable {
  readonly find: Statement<[owner: string, key: string, keptSince: Date], FoundAnswer>;
  readonly store: Statement<
    [
      owner: string,
      key: string,
      fingerprint: string,
      status: number,
      body: string,
      at: Date,
      runningMs: number | null,
    ],
    unknown
  >;
  readonly release: Statement<[owner: string, key: string], unknown>;
  readonly forget: Statement<[before: Date], unknown>;
}

/** Partners' answers are rows of their own; those of vendors and operators are the system's. */
function answerTable(name: string, table: string, owner: string): AnswerTable {
  return {
    find: statement(
      `${name}.find`,
      `SELECT fingerprint, status, body, running_until > clock_timestamp() AS running FROM ${table}
        WHERE ${owner} = $1 AND idempotency_key = $2 AND created_at > $3`,
    ),
    store: statement(
      `${name}.store`,
      `INSERT INTO ${table} (${owner}, idempotency_key, fingerprint, status, body, created_at, running_until)
       VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::int * interval '1 millisecond')
       ON CONFLICT (${owner}, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
         status = excluded.status, body = excluded.body, created_at = excluded.created_at,
         running_until = excluded.running_until`,
    ),
    release: statement(
      `${name}.release`,
      `DELETE FROM ${table} WHERE ${owner} = $1 AND idempotency_key = $2 AND running_until IS NOT NULL`,
    ),
    forget: statement(`${name}.forget`, `DELETE FROM ${table} WHERE created_at <= $1`),
  };
}

const PARTNERS = answerTable('idempotency', 'idempotent_answers', 'partner_id');
const OTHERS = answerTable('actor_idempotency', 'actor_answers', 'actor');

export const FORGET_ANSWERS: readonly Statement<[before: Date], unknown>[] = [PARTNERS.forget, OTHERS.forget];

function tableOf({ kind }: KeyOwner): AnswerTable {
  return kind === 'partner' ? PARTNERS : OTHERS;
}

function nameOf({ kind, id }: KeyOwner): string {
  return kind === 'partner' ? id : `${kind}:${id}`;
}

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
  const { owner, idempotencyKey } = request;
  const name = nameOf(owner);
  // Two statements: the look-up must see what the holder of the lock committed just before letting go.
  const [[lock], [found]] = await unit.tx.queryBoth(
    lockKey,
    [`${name}:${idempotencyKey}`],
    tableOf(owner).find,
    [name, idempotencyKey, answersKeptSince(unit.at)],
  );
  if (found !== undefined) {
    const { fingerprint, body } = sealer === null ? found : unsealed(sealer, request, found.body);
    if (fingerprint !== request.fingerprint) throw new CausewayError('IDEMPOTENCY_KEY_REUSED');
    if (found.running === null) return { status: found.status, body };
    if (found.running) throw new CausewayError('IDEMPOTENCY_IN_PROGRESS');
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
  write(unit, request, answer, sealer, null);
}

/** Takes the key for work outside a transaction: until its answer is kept, or it is let go, or too long has passed. */
export function takeIdempotencyKey(
  unit: UnitOfWork,
  request: RequestIdentity,
  sealer: AnswerSealer | null,
): void {
  write(unit, request, { status: 0, body: '' }, sealer, RUNNING_MS);
}

/** The work failed without an answer, so that a retry may succeed. */
export function letGoOfIdempotencyKey(unit: UnitOfWork, { owner, idempotencyKey }: RequestIdentity): void {
  unit.tx.defer(tableOf(owner).release, [nameOf(owner), idempotencyKey]);
}

function write(
  unit: UnitOfWork,
  request: RequestIdentity,
  answer: StoredAnswer,
  sealer: AnswerSealer | null,
  runningMs: number | null,
): void {
  // The fingerprint goes into the seal as well: from a short body its hash could be guessed.
  const [fingerprint, body] =
    sealer === null
      ? [request.fingerprint, answer.body]
      : ['', sealer.seal(request.fingerprint + answer.body, contextOf(request))];
  unit.tx.defer(tableOf(request.owner).store, [
    nameOf(request.owner),
    request.idempotencyKey,
    fingerprint,
    answer.status,
    body,
    unit.at,
    runningMs,
  ]);
}

/** Where a kept answer belongs: sealed for this place, it opens nowhere else. */
export function answerContext(request: {
  readonly partnerId: string;
  readonly idempotencyKey: string;
}): string {
  return `idempotent_answers:${request.partnerId}:${request.idempotencyKey}`;
}

/** The same for vendors and operators, named as their table names them. */
export function actorAnswerContext(request: {
  readonly actor: string;
  readonly idempotencyKey: string;
}): string {
  return `actor_answers:${request.actor}:${request.idempotencyKey}`;
}

function contextOf({ owner, idempotencyKey }: RequestIdentity): string {
  return owner.kind === 'partner'
    ? answerContext({ partnerId: owner.id, idempotencyKey })
    : actorAnswerContext({ actor: nameOf(owner), idempotencyKey });
}

const FINGERPRINT_LENGTH = 64;

function unsealed(
  sealer: AnswerSealer,
  request: RequestIdentity,
  sealed: string,
): { readonly fingerprint: string; readonly body: string } {
  const text = sealer.open(sealed, contextOf(request));
  return { fingerprint: text.slice(0, FINGERPRINT_LENGTH), body: text.slice(FINGERPRINT_LENGTH) };
}
