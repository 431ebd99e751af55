import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Causeway, type CausewayEvent, isCausewayError, type Order } from '@causeway/sdk';
import type { SandboxFile as SigningFile } from '@causeway/sdk/signing';
import { type Invocation, text } from '../command.ts';
import { clientOf, connect, keyOf } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';
import { type Profile, sandboxPath } from '../profile.ts';

/** What a step may need besides the partner's key. */
export type Need = 'wallet' | 'operator';

/** One step of a plan. */
export interface Step {
  /** What it does, in a line: `--dry-run` shows it. */
  readonly says: string;
  /** Methods of the SDK that it calls. */
  readonly calls: readonly string[];
  readonly needs?: readonly Need[];
  /** Makes what the rest is about; left out where an order is given. */
  readonly opens?: true;
  /** Statuses of the order in which it is done. */
  readonly from?: readonly string[];
  /** Statuses in which the order goes on to `to` by itself. */
  readonly between?: readonly string[];
  /** Where the order is afterwards. An order that has been there does not need the step. */
  readonly to?: string;
  run(run: TriggerRun): Promise<void>;
}

/** `sandbox.json`, as far as plans need it. */
export interface SandboxFile extends SigningFile {
  readonly operator_key: string;
  readonly partners: readonly {
    readonly api_key: string;
    readonly wallet_address: string;
    readonly wallet_private_key: string;
  }[];
}

/** What plans share while they are carried out. */
export interface TriggerRun {
  readonly partner: Causeway;
  operator(): Causeway;
  /** The file of the sandbox, and which of its partners this is. */
  sandbox(): Promise<{ readonly file: SandboxFile; readonly partner: number }>;
  /** Made or found on the way. */
  readonly made: { orderId?: string; userId?: string; accountId?: string };
  /** Asks until the answer is there, for as long as a step may take. */
  until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T>;
  note(message: string): void;
  /** An event that came by another way than the stream. */
  heard(event: CausewayEvent): void;
  /** Done at the end, also where a step failed. */
  atEnd(work: () => Promise<void>): void;
}

const LOOK_AGAIN_MS = 250;

/** Follows the stream from before the first step; answers what the steps need, and waits for the event. */
export interface Session {
  readonly run: TriggerRun;
  order(): Promise<Order>;
  /** The order once it is, or has been, in this status. */
  reaches(status: string): Promise<void>;
  event(fits: (event: CausewayEvent) => boolean): Promise<CausewayEvent>;
  /** Does all that was left for the end, and throws the first failure of it. */
  end(): Promise<void>;
}

export interface SessionOptions {
  readonly profile: Profile;
  readonly stepTimeoutMs: number;
}

/** Resolves when the stream stands: nothing that happens from now on is missed. */
export async function openSession(invocation: Invocation, options: SessionOptions): Promise<Session> {
  const { profile, stepTimeoutMs } = options;
  const { baseUrl, keys } = profile;
  const clientWith = (apiKey: string) =>
    connect(baseUrl, apiKey, { fetch: shownFetch((line) => invocation.output.note(line)) });
  // Looking is not shown: what is done is.
  const watcher = clientOf(profile, 'partner');
  const events: CausewayEvent[] = [];
  const cleanups: (() => Promise<void>)[] = [];
  const following = new AbortController();
  const stop = () => following.abort(invocation.signal.reason);
  invocation.signal.addEventListener('abort', stop, { once: true });

  async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    const deadline = performance.now() + stepTimeoutMs;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      invocation.signal.throwIfAborted();
      if (performance.now() > deadline) {
        throw new CommandError(`Waited ${stepTimeoutMs / 1_000} s in vain for ${what}.`, {
          exitCode: EXIT.failed,
          hint: '--timeout gives it longer.',
        });
      }
      await sleep(LOOK_AGAIN_MS, undefined, { signal: invocation.signal });
    }
  }

  let operatorKey = keys.operator;
  const run: TriggerRun = {
    partner: clientWith(keys.partner ?? ''),
    operator: () => clientWith(operatorKey ?? ''),
    async sandbox() {
      const found = await sandboxFile(invocation, profile);
      operatorKey ??= found.file.operator_key;
      return found;
    },
    made: {},
    until,
    note: (message) => invocation.output.note(message),
    heard: (event) => void events.push(event),
    atEnd: (work) => void cleanups.push(work),
  };
  const order = () => watcher.orders.get(run.made.orderId ?? '');
  await collect(watcher, events, following.signal);

  return {
    run,
    order,
    async reaches(status) {
      await until(`the order to be ${status}`, async () => {
        const seen = await order();
        if (hasBeen(seen, status)) return seen;
        if (seen.failure === null) return undefined;
        const { code, message } = seen.failure;
        throw new CommandError(`The order ended as ${seen.status}: ${code}: ${message}`, {
          exitCode: EXIT.refused,
        });
      });
    },
    event: (fits) => until('the event', async () => events.find(fits)),
    async end() {
      following.abort();
      invocation.signal.removeEventListener('abort', stop);
      // What one cannot put back must not keep the others from it.
      const failures: unknown[] = [];
      for (const work of cleanups.toReversed()) await work().catch((error) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}

export function hasBeen(order: Order, status: string): boolean {
  return [order, ...order.timeline].some((one) => one.status === status);
}

/** Resolves when the stream stands; what it carries is added to `events` until it is stopped. */
function collect(watcher: Causeway, events: CausewayEvent[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const follow = async () => {
      for await (const { event } of watcher.events.stream({ signal, onOpen: () => resolve() })) {
        events.push(event);
      }
    };
    follow().catch((error: unknown) => reject(error));
  });
}

/** Every call with its answer, as it happens. */
function shownFetch(show: (line: string) => void): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(String(input));
    const asked = `${init?.method ?? 'GET'} ${pathname}`;
    try {
      const answer = await fetch(input, init);
      show(`  ${asked}  ${answer.status}${await resultOf(answer.clone())}`);
      return answer;
    } catch (error) {
      show(`  ${asked}  no answer`);
      throw error;
    }
  };
}

async function resultOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => undefined)) as
    | { error?: { code?: string }; data?: { status?: unknown } }
    | undefined;
  const result = body?.error?.code ?? body?.data?.status;
  return typeof result === 'string' ? ` ${result}` : '';
}

/** Refuses whatever is no sandbox, before anything is done. */
export async function requireSandbox(profile: Profile, signal: AbortSignal): Promise<void> {
  const { name, baseUrl } = profile;
  const refused = new CommandError(
    `${baseUrl} (profile “${name}”) is no sandbox: events are triggered in one only.`,
    {
      exitCode: EXIT.refused,
      hint: 'npm start runs a sandbox; --profile chooses another deployment.',
    },
  );
  const partner = keyOf(profile, 'partner');
  if (partner.startsWith('cw_live_')) throw refused;
  try {
    await connect(baseUrl, partner).sandbox.clock({ signal });
  } catch (error) {
    if (isCausewayError(error) && error.status === 404) throw refused;
    throw error;
  }
}

/** The keys that only the sandbox's own file has, if it is the file of this partner. */
export async function sandboxFile(
  invocation: Invocation,
  { keys }: Profile,
): Promise<{ readonly file: SandboxFile; readonly partner: number }> {
  const path = text(invocation, 'sandbox-file') ?? sandboxPath(invocation.folder, invocation.env);
  const hint = '--sandbox-file FILE names the file that the sandbox wrote when it started.';
  const written = await readFile(path, 'utf8').catch(() => undefined);
  if (written === undefined) {
    throw new CommandError(`This event needs keys of the sandbox, and ${path} cannot be read.`, { hint });
  }
  let file: SandboxFile;
  try {
    file = JSON.parse(written);
  } catch {
    throw new CommandError(`${path} is no JSON.`, { hint });
  }
  const partner = (file.partners ?? []).findIndex(({ api_key: key }) => key === keys.partner);
  if (partner < 0) {
    throw new CommandError(`This event needs keys of the sandbox, and ${path} does not know your API key.`, {
      hint,
    });
  }
  return { file, partner };
}
