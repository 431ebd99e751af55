import { CausewayError } from '@causeway/protocol';
import type { Scope } from '../db/database.ts';
import { type Statement, statement } from '../db/statement.ts';
import type { UnitDeps, UnitOfWork } from '../engine/unit-of-work.ts';
import { RENEWALS_PER_LEASE, repeatEvery } from '../lib/pacing.ts';

/** What is kept under an idempotency key: the response, or the lease of a request that is still to give it. */
export interface StoredResponse {
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

/** Responses repeat personal data, so they are stored encrypted, and so is what was asked. */
export interface ResponseSealer {
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
}

const KEEP_MS = 24 * 60 * 60 * 1_000;
/**
 * Renewed while the work is under way; after it, the process that leased the key counts as dead. A caller that repeats its
 * request waits no longer than this for a process that was killed, however long the work itself may take.
 */
const LEASE_MS = 5_000;

/** In place of an HTTP status while the key is leased: whether the work has written what it is to write. */
export const BEGUN = 0;
export const WRITTEN = 1;

const lockKey = statement<[lockName: string], { locked: boolean }>(
  'idempotency.lock',
  'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
);

interface FoundResponse {
  fingerprint: string;
  status: number;
  body: string;
  /** Null where the response is there; false where the lease is over without one. */
  running: boolean | null;
}

interface ResponseTable {
  readonly find: Statement<[owner: string, key: string, keptSince: Date], FoundResponse>;
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
  readonly renew: Statement<[owner: string, key: string, runningMs: number], unknown>;
  readonly release: Statement<[owner: string, key: string], unknown>;
  readonly purge: Statement<[before: Date], unknown>;
}

/** Partners' responses are rows of their own; those of vendors and operators are the system's. */
function responseTable(name: string, table: string, owner: string): ResponseTable {
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
    renew: statement(
      `${name}.renew`,
      `UPDATE ${table} SET running_until = clock_timestamp() + $3::int * interval '1 millisecond'
        WHERE ${owner} = $1 AND idempotency_key = $2 AND running_until IS NOT NULL`,
    ),
    // Work that has written something is not begun anew by the next request, but ended by it.
    release: statement(
      `${name}.release`,
      `WITH released AS (DELETE FROM ${table} WHERE ${owner} = $1 AND idempotency_key = $2
          AND running_until IS NOT NULL AND status <> ${WRITTEN})
       UPDATE ${table} SET running_until = clock_timestamp() WHERE ${owner} = $1 AND idempotency_key = $2
          AND running_until IS NOT NULL AND status = ${WRITTEN}`,
    ),
    purge: statement(`${name}.purge`, `DELETE FROM ${table} WHERE created_at <= $1`),
  };
}

const PARTNERS = responseTable('idempotency', 'idempotent_responses', 'partner_id');
const OTHERS = responseTable('actor_idempotency', 'actor_responses', 'actor');

export const PURGE_RESPONSES: readonly Statement<[before: Date], unknown>[] = [PARTNERS.purge, OTHERS.purge];

function tableOf({ kind }: KeyOwner): ResponseTable {
  return kind === 'partner' ? PARTNERS : OTHERS;
}

function nameOf({ kind, id }: KeyOwner): string {
  return kind === 'partner' ? id : `${kind}:${id}`;
}

export function responsesKeptSince(at: Date): Date {
  return new Date(at.getTime() - KEEP_MS);
}

/** The stored response, or none when the work is ours to do, or to end (the key is then locked until commit). */
export async function claimIdempotencyKey(
  unit: UnitOfWork,
  request: RequestIdentity,
  sealer: ResponseSealer | null,
): Promise<{ readonly stored: StoredResponse | null; readonly isWritten: boolean }> {
  const { owner, idempotencyKey } = request;
  const name = nameOf(owner);
  // Two statements: the look-up must see what the holder of the lock committed just before releasing it.
  const [[lock], [found]] = await unit.tx.queryBoth(
    lockKey,
    [`${name}:${idempotencyKey}`],
    tableOf(owner).find,
    [name, idempotencyKey, responsesKeptSince(unit.at)],
  );
  if (found !== undefined) {
    const { fingerprint, body } = sealer === null ? found : unsealed(sealer, request, found.body);
    if (fingerprint !== request.fingerprint) throw new CausewayError('IDEMPOTENCY_KEY_REUSED');
    if (found.running === null) return { stored: { status: found.status, body }, isWritten: true };
    if (found.running) throw new CausewayError('IDEMPOTENCY_IN_PROGRESS');
  }
  if (!lock?.locked) throw new CausewayError('IDEMPOTENCY_IN_PROGRESS');
  // What follows can be rolled back without releasing the lock.
  unit.tx.savepoint();
  return { stored: null, isWritten: found?.status === WRITTEN };
}

export function storeResponse(
  unit: UnitOfWork,
  request: RequestIdentity,
  response: StoredResponse,
  sealer: ResponseSealer | null,
): void {
  write(unit, request, response, sealer, null);
}

/** For work outside a transaction: until its response is stored, or the key is released, or the lease is over. */
export function leaseIdempotencyKey(
  unit: UnitOfWork,
  request: RequestIdentity,
  sealer: ResponseSealer | null,
  progress: typeof BEGUN | typeof WRITTEN,
): void {
  write(unit, request, { status: progress, body: '' }, sealer, LEASE_MS);
}

export function keepLeased({ db }: UnitDeps, scope: Scope, { owner, idempotencyKey }: RequestIdentity) {
  const renew = () => db.query(scope, tableOf(owner).renew, [nameOf(owner), idempotencyKey, LEASE_MS]);
  // While the database is away there is nothing to renew, and no other process can take the key either.
  return repeatEvery(LEASE_MS / RENEWALS_PER_LEASE, renew, () => {}).unref();
}

/** The work failed without a response, so that a retry may succeed. */
export function releaseIdempotencyKey(unit: UnitOfWork, { owner, idempotencyKey }: RequestIdentity): void {
  unit.tx.defer(tableOf(owner).release, [nameOf(owner), idempotencyKey]);
}

function write(
  unit: UnitOfWork,
  request: RequestIdentity,
  response: StoredResponse,
  sealer: ResponseSealer | null,
  runningMs: number | null,
): void {
  // The fingerprint goes into the seal as well: from a short body its hash could be guessed.
  const [fingerprint, body] =
    sealer === null
      ? [request.fingerprint, response.body]
      : ['', sealer.seal(request.fingerprint + response.body, contextOf(request))];
  unit.tx.defer(tableOf(request.owner).store, [
    nameOf(request.owner),
    request.idempotencyKey,
    fingerprint,
    response.status,
    body,
    unit.at,
    runningMs,
  ]);
}

/** What a stored response is sealed for: it opens under this key of this owner only. */
export function responseContext(request: {
  readonly partnerId: string;
  readonly idempotencyKey: string;
}): string {
  return `idempotent_responses:${request.partnerId}:${request.idempotencyKey}`;
}

/** The same for vendors and operators, named as their table names them. */
export function actorResponseContext(request: {
  readonly actor: string;
  readonly idempotencyKey: string;
}): string {
  return `actor_responses:${request.actor}:${request.idempotencyKey}`;
}

function contextOf({ owner, idempotencyKey }: RequestIdentity): string {
  return owner.kind === 'partner'
    ? responseContext({ partnerId: owner.id, idempotencyKey })
    : actorResponseContext({ actor: nameOf(owner), idempotencyKey });
}

const FINGERPRINT_LENGTH = 64;

function unsealed(
  sealer: ResponseSealer,
  request: RequestIdentity,
  sealed: string,
): { readonly fingerprint: string; readonly body: string } {
  const text = sealer.open(sealed, contextOf(request));
  return { fingerprint: text.slice(0, FINGERPRINT_LENGTH), body: text.slice(FINGERPRINT_LENGTH) };
}
