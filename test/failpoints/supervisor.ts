import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { connect } from '../harness/database.ts';
import { COMPILED, START } from '../harness/process.ts';
import { instrument } from './instrument.ts';
import { GATEWAY, type Program } from './program.ts';
import { FAILED, type FailpointPlan, HIT, linesOf, PLAN, REACHED, UNLISTED } from './runtime.ts';

/**
 * Keeps one instrumented gateway process running: when it has died at a failpoint, the next one, which stands by loaded,
 * takes its place. Leases of the dead are let run out at once; waiting for them would show nothing more.
 */
export interface Supervisor {
  /** Resolves when a process serves, also after a death. */
  ready(): Promise<void>;
  /** Idempotency keys that work in vain has leased, as if their time were over. */
  letKeysRunOut(): Promise<void>;
  readonly deaths: number;
  /** Failpoints, and what was met that no site covers. */
  reached(): readonly string[];
  hit(): readonly string[];
  unlisted(): readonly string[];
  /** Ends of a process that no failpoint had caused, with what it printed. */
  readonly accidents: readonly string[];
  /** The end of what the last process and the one before it have printed. */
  lastWords(): string;
  stop(): Promise<void>;
}

const LAST_WORDS = 3_000;
const MAIN = new URL('./gateway-main.ts', import.meta.url);

const LET_KEYS_RUN_OUT = ['idempotent_responses', 'actor_responses'].map(
  (table) => `UPDATE ${table} SET running_until = clock_timestamp() WHERE running_until > clock_timestamp()`,
);
const LET_LEASES_RUN_OUT = [
  'UPDATE intents SET leased_until = clock_timestamp() WHERE leased_until > clock_timestamp()',
  'UPDATE webhook_deliveries SET leased_until = clock_timestamp() WHERE leased_until > clock_timestamp()',
  'UPDATE rate_book SET held_until = clock_timestamp() WHERE held_until > clock_timestamp()',
  ...LET_KEYS_RUN_OUT,
];

interface Child {
  readonly process: ChildProcess;
  readonly loaded: Promise<unknown>;
  readonly output: string[];
  isServing: boolean;
}

export async function startSupervisor(
  program: Program,
  plan: FailpointPlan,
  { databaseUrl, env }: { readonly databaseUrl: string; readonly env: Readonly<Record<string, string>> },
): Promise<Supervisor> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-failpoints-'));
  await writeFile(join(folder, PLAN), JSON.stringify(plan));
  await writeFile(join(folder, 'instrumented.json'), JSON.stringify(instrument(program)));
  const owner: pg.Client = await connect(databaseUrl);
  const accidents: string[] = [];
  const children = new Set<ChildProcess>();
  const latest: Child[] = [];
  let deaths = 0;
  let isStopping = false;
  let standby = prepare();
  let serving = serve();

  function prepare(): Child {
    const child = fork(MAIN, [folder, GATEWAY, 'api', 'worker'], {
      execArgv: START.flags,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: COMPILED, ...env },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    }
    const loaded = Promise.race([once(child, 'message'), once(child, 'exit')]);
    return { process: child, loaded, output, isServing: false };
  }

  /** Until it says that it is ready; a death on the way begins anew with the next. */
  async function serve(): Promise<void> {
    const child = standby;
    await child.loaded;
    child.process.once('exit', (code, signal) => void succeed(child, signal ?? String(code)));
    const isReady = new Promise<boolean>((resolve) => {
      child.process.once('exit', () => resolve(false));
      const look = () => {
        if (child.isServing || !child.output.join('').includes('is ready.')) return;
        child.isServing = true;
        resolve(true);
      };
      child.process.stdout?.on('data', look);
    });
    child.process.send('start');
    latest.push(child);
    if (latest.length > 2) latest.shift();
    standby = prepare();
    if (!(await isReady) && !isStopping) await serving;
  }

  let alreadyHit = 0;
  async function succeed({ output, isServing }: Child, ending: string): Promise<void> {
    if (isStopping) return;
    deaths++;
    const hits = [HIT, FAILED].flatMap((file) => linesOf(join(folder, file))).length;
    // An error may end a start, which is begun anew then; it must not end a process that serves.
    if (hits === alreadyHit || (isServing && ending !== 'SIGKILL')) {
      accidents.push(`${ending}: ${output.join('').slice(-2_000)}`);
    }
    alreadyHit = hits;
    serving = send(LET_LEASES_RUN_OUT).then(serve);
    await serving;
  }

  async function send(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await owner.query(statement);
  }

  return {
    async ready() {
      for (let known: Promise<void> | undefined; known !== serving; ) {
        known = serving;
        await known;
      }
    },
    letKeysRunOut: () => send(LET_KEYS_RUN_OUT),
    get deaths() {
      return deaths;
    },
    accidents,
    lastWords: () =>
      latest.map(({ output }) => output.join('').slice(-LAST_WORDS)).join('\n— the next process —\n'),
    reached: () => linesOf(join(folder, REACHED)),
    hit: () => linesOf(join(folder, HIT)),
    unlisted: () => linesOf(join(folder, UNLISTED)),
    async stop() {
      isStopping = true;
      for (const child of children) child.kill('SIGKILL');
      await owner.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
