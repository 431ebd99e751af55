import { CausewayError, LivenessSchema, successResponseOf, toPartnerErrorBody } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { RETRY_AFTER_SECONDS } from '../../http/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies, CurrenciesSnapshot } from '../../ports/currencies.ts';

/** One thing a process needs to do its work. Its answers are public, so they hold nothing secret. */
export interface Check {
  readonly name: string;
  /** Why it is not fulfilled; undefined where it is. */
  failure(): string | undefined | Promise<string | undefined>;
}

/**
 * Whether a process, or its API, can do its work now. It is made to be asked often: nothing is remembered, and what has
 * changed since the last time is logged once.
 */
export interface Readiness {
  add(...checks: readonly Check[]): void;
  /** Before, it is starting and says so. */
  started(): void;
  /** It stays up until its work has ended, and wants no more of it. */
  stopping(): void;
  answer(): Promise<ReadinessAnswer>;
}

export interface ReadinessAnswer {
  readonly status: 200 | 503;
  readonly body: object;
}

interface Failure {
  readonly check: string;
  readonly reason: string;
}

const READY: ReadinessAnswer = { status: 200, body: { success: true, data: { status: 'ok' } } };

export function createReadiness(logger: Logger, checks: readonly Check[]): Readiness {
  const all = [...checks];
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let failingBefore = '';
  // Anybody may ask, and each look asks the database: all who ask meanwhile share one.
  let looking: Promise<ReadinessAnswer> | undefined;

  async function failures(): Promise<Failure[]> {
    if (phase !== 'running') return [{ check: 'process', reason: phase }];
    const reasons = await Promise.all(all.map((check) => check.failure()));
    return all.flatMap(({ name }, index) => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ check: name, reason }];
    });
  }

  /** Probes come every few seconds for as long as something is wrong; the log says when it began and when it ended. */
  function tellOfChange(failing: readonly Failure[]): void {
    const names = failing.map(({ check }) => check).join(', ');
    if (names === failingBefore || phase !== 'running') return;
    failingBefore = names;
    if (names === '') logger.info('ready again');
    else logger.warn({ failing }, 'not ready');
  }

  async function look(): Promise<ReadinessAnswer> {
    const failing = await failures();
    tellOfChange(failing);
    if (failing.length === 0) return READY;
    const error = new CausewayError('SERVICE_UNAVAILABLE', { details: { failing } });
    return { status: 503, body: toPartnerErrorBody(error) };
  }

  return {
    add: (...more) => void all.push(...more),
    started() {
      if (phase === 'starting') phase = 'running';
    },
    stopping() {
      phase = 'stopping';
    },
    answer() {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
}

const ping = statement<[], { one: number }>('health.ping', 'SELECT 1 AS one');
/** Shorter than the timeout of the caller, so that it gets a reason and not a timeout. */
const DATABASE_TIMEOUT_MS = 800;

export function databaseCheck(db: Database): Check {
  return {
    name: 'database',
    failure() {
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve('does not answer in time'), DATABASE_TIMEOUT_MS);
        db.query(SYSTEM, ping, [])
          .then(
            () => resolve(undefined),
            () => resolve('cannot be asked'),
          )
          .finally(() => clearTimeout(timer));
      });
    },
  };
}

/** Fails while no pair of a crypto and a fiat currency that is served has a rate that may be priced on. */
export function ratesCheck(currencies: Currencies, wall: () => number): Check {
  const known = new WeakMap<CurrenciesSnapshot, boolean>();

  function canPrice(snapshot: CurrenciesSnapshot): boolean {
    let answer = known.get(snapshot);
    if (answer === undefined) {
      const { reference, rates } = snapshot;
      answer = reference.catalogue
        .supportedPairs()
        .some((pair) => rates.requireRate(pair.crypto_currency_code, pair.fiat_currency_code).ok);
      known.set(snapshot, answer);
    }
    return answer;
  }

  return {
    name: 'rates',
    failure() {
      let snapshot: CurrenciesSnapshot;
      try {
        snapshot = currencies.current();
      } catch {
        return 'nothing can be priced: the currencies backend has not answered yet';
      }
      if (canPrice(snapshot)) return undefined;
      const observed = snapshot.rates.legs.flatMap(({ asOf }) => (asOf === null ? [] : [asOf]));
      if (observed.length === 0) return 'nothing can be priced: there are no rates';
      const age = Math.max(0, Math.round((wall() - Math.max(...observed)) / 1_000));
      return `nothing can be priced: no rate is fresh, the newest is ${age} s old`;
    },
  };
}

/** `/health`: the process is alive. `/ready`: its API can serve, and if not, why not. */
export function registerHealthRoutes(app: FastifyInstance, readiness: Readiness): void {
  const liveness = successResponseOf(LivenessSchema);
  app.get(
    '/health',
    {
      config: { access: 'open' },
      schema: {
        operationId: 'health',
        tags: ['Gateway'],
        summary: 'Liveness probe',
        security: [],
        response: { 200: { ...liveness, description: 'Alive' } },
      },
    },
    async () => ({ success: true, data: { status: 'ok' } }),
  );

  app.get(
    '/ready',
    {
      config: { access: 'open', errors: ['SERVICE_UNAVAILABLE'] },
      schema: {
        operationId: 'ready',
        tags: ['Gateway'],
        summary: 'Readiness probe',
        description:
          'Not ready while it starts or stops, while its database does not answer, and while nothing can be priced because rates are stale or absent.',
        security: [],
        response: { 200: { ...liveness, description: 'Ready' } },
      },
    },
    async (_request, reply: FastifyReply) => {
      // Sent, not thrown: a probe that is answered no is no failed request.
      const { status, body } = await readiness.answer();
      if (status !== 200) reply.header('retry-after', RETRY_AFTER_SECONDS);
      return reply.code(status).send(body);
    },
  );
}
