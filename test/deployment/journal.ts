import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, call } from '../harness/call.ts';

/** A write that was answered: what the client may rely on from then on. */
export interface Acknowledged {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  readonly idempotencyKey: string;
  readonly status: number;
  readonly text: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** How often it was sent: more than once where an answer did not come. */
  readonly attempts: number;
}

/** Everything that clients were told. Times are those of the wall clock, as the database and the sink have them. */
export class Journal {
  readonly acknowledged: Acknowledged[] = [];
  /** When each request was answered that was answered at all, reads included: when it was sent, and when it was answered. */
  readonly answers: (readonly [sentAt: number, answeredAt: number])[] = [];
  /** Answers that a client must never get: 500, or an error without a code of the catalogue. */
  readonly broken: string[] = [];
  /** Attempts that ended without an answer, and answers that ask to come again. */
  lost = 0;
  refused = 0;
}

export interface Client {
  /** Sent until it is answered, always under the same Idempotency-Key. */
  write(path: string, body?: object, method?: string): Promise<Answer>;
  read(path: string): Promise<Answer>;
}

const ATTEMPT_MS = 30_000;
const PAUSE_MS = 100;

/** A partner's backend as it should be: it goes to the other address, and repeats what was not answered. */
export function journalingClient(urls: readonly string[], apiKey: string, journal: Journal): Client {
  let turn = 0;

  async function attempt(method: string, path: string, body?: object, key?: string) {
    const sentAt = Date.now();
    const url = urls[turn++ % urls.length] as string;
    const answer = await call(url, method, `/api/v1/${path}`, {
      key: apiKey,
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      signal: AbortSignal.timeout(ATTEMPT_MS),
    }).catch(() => undefined);
    if (answer === undefined) {
      journal.lost++;
      return undefined;
    }
    const code: string | undefined = answer.body?.error?.code;
    // What the contract has for a chain that is away.
    if (answer.status === 502 && code === 'TRANSACTOR_UNAVAILABLE') {
      journal.refused++;
      return undefined;
    }
    if (answer.status === 503 || answer.status === 504 || code === 'IDEMPOTENCY_IN_PROGRESS') {
      const isTold = answer.status < 500 || answer.headers.get('retry-after') !== null;
      if (!isTold) journal.broken.push(`${method} ${path}: ${answer.status} without Retry-After`);
      journal.refused++;
      return undefined;
    }
    if (answer.status >= 500 || (answer.status >= 400 && code === undefined)) {
      journal.broken.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      return undefined;
    }
    journal.answers.push([sentAt, Date.now()]);
    return answer;
  }

  async function persist(method: string, path: string, body?: object, key?: string) {
    const sentAt = Date.now();
    for (let attempts = 1; ; attempts++) {
      const answer = await attempt(method, path, body, key);
      if (answer !== undefined) return { answer, attempts, sentAt };
      await sleep(PAUSE_MS);
    }
  }

  return {
    async write(path, body, method = 'POST') {
      const idempotencyKey = randomUUID();
      const { answer, attempts, sentAt } = await persist(method, path, body, idempotencyKey);
      const { status, text } = answer;
      const request = { apiKey, method, path, body, idempotencyKey };
      journal.acknowledged.push({ ...request, status, text, sentAt, answeredAt: Date.now(), attempts });
      return answer;
    },
    read: async (path) => (await persist('GET', path)).answer,
  };
}
