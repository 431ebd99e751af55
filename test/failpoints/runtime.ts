import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { isWrite, RUNTIME } from './common.ts';

/**
 * Runs inside a gateway process of which the code was instrumented. At the first arrival at an armed failpoint it writes
 * down that it was hit and ends the process at once (`die`), or breaks the connection or throws (`fail`).
 *
 * A commit is recognised on the wire: the statement that commits is on its way to the server, and whose it is follows
 * from the asynchronous context. So a commit, or an HTTP request, that belongs to no listed site is found as well.
 */
export interface FailpointPlan {
  readonly mode: 'die' | 'fail' | 'observe';
  /** Names of failpoints: `before …` and `after …`. */
  readonly armed: readonly string[];
  /** How many are hit at most, by all processes together. */
  readonly most: number;
  /** Where an error happens once as well: some places are only met after one. */
  readonly failing?: readonly string[];
}

/** Files in the folder of a run, which survive the processes. */
export const PLAN = 'plan.json';
export const REACHED = 'reached.log';
export const HIT = 'hit.log';
export const FAILED = 'failed.log';
export const UNLISTED = 'unlisted.log';

interface Running {
  readonly name: string;
  readonly kind: 'commit' | 'call';
  readonly outer: Running | undefined;
  committed: boolean;
}

type Work = (...args: unknown[]) => unknown;

export function installFailpoints(folder: string): void {
  const plan = JSON.parse(readFileSync(join(folder, PLAN), 'utf8')) as FailpointPlan;
  const { mode, armed, most, failing = [] } = plan;
  const before = linesOf(join(folder, HIT));
  const waiting = new Set(armed.filter((name) => !before.includes(name)));
  const failed = linesOf(join(folder, FAILED));
  const toFail = new Set(failing.filter((name) => !failed.includes(name)));
  let left = most - before.length;
  const noted = {
    [REACHED]: new Set(linesOf(join(folder, REACHED))),
    [HIT]: new Set<string>(),
    [FAILED]: new Set<string>(),
    [UNLISTED]: new Set<string>(),
  };
  const running = new AsyncLocalStorage<Running>();

  function note(file: keyof typeof noted, line: string): void {
    if (noted[file].has(line)) return;
    noted[file].add(line);
    appendFileSync(join(folder, file), `${line}\n`);
  }

  /** Whether the work is to fail here; a process that is to die does not return. */
  function arrive(moment: 'before' | 'after', name: string): boolean {
    const failpoint = `${moment} ${name}`;
    note(REACHED, failpoint);
    if (toFail.delete(failpoint)) {
      note(FAILED, failpoint);
      return true;
    }
    if (mode === 'observe' || left <= 0 || !waiting.delete(failpoint)) return false;
    left--;
    note(HIT, failpoint);
    if (mode === 'fail') return true;
    process.kill(process.pid, 'SIGKILL');
    // The signal may take a moment, in which nothing else may happen.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    throw new Error('outlived SIGKILL');
  }

  async function run(site: Running, work: () => unknown): Promise<unknown> {
    if (site.kind === 'call' && arrive('before', site.name)) throw failure(site.name);
    const settled = await Promise.allSettled([running.run(site, async () => work())]);
    if ((site.kind === 'call' || site.committed) && arrive('after', site.name)) throw failure(site.name);
    const [outcome] = settled;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  function wrap(kind: Running['kind'], name: string, callee: unknown, method?: string): Work {
    return (...args) => {
      // As `bank?.pay()` where there is no bank.
      if (callee === undefined || callee === null) return undefined;
      const work = method === undefined ? (callee as Work) : (callee as Record<string, Work>)[method];
      const site = { name, kind, outer: running.getStore(), committed: false };
      return run(site, () => work?.apply(method === undefined ? undefined : callee, args));
    };
  }

  Object.assign(globalThis, { [RUNTIME]: { wrap } });
  watchCommits((connection) => {
    const site = running.getStore();
    if (site === undefined || site.kind !== 'commit') {
      note(UNLISTED, `a commit of ${connection.writes.join(', ')}${site ? ` inside ${site.name}` : ''}`);
      return;
    }
    const isBroken = arrive('before', site.name);
    // Nothing of this round trip has left the process yet.
    if (isBroken) connection.stream.destroy(failure(site.name));
    site.committed = !isBroken;
  });
  reportRequests((address) => {
    for (let site = running.getStore(); site !== undefined; site = site.outer)
      if (site.kind === 'call') return;
    note(UNLISTED, `a request to ${address}`);
  });
}

/** Every HTTP request once the gateway serves; what a sandbox asks of its own chains before is no work of the gateway. */
function reportRequests(onRequest: (address: string) => void): void {
  let isServing = false;
  const { write } = process.stdout;
  process.stdout.write = ((...args: Parameters<typeof write>) => {
    isServing ||= String(args[0]).includes('is ready.');
    return write.apply(process.stdout, args);
  }) as typeof write;
  subscribe('undici:request:create', (message) => {
    const { origin, path } = (message as { request: { origin: string; path: string } }).request;
    if (isServing) onRequest(`${origin}${path}`);
  });
}

function failure(name: string): Error {
  return Object.assign(new Error(`Connection lost at failpoint ${name}`), {
    code: 'ECONNRESET',
    syscall: 'read',
  });
}

interface WireConnection {
  readonly stream: { destroy(error: Error): void };
  /** Names of the writing statements since the last commit. */
  writes: string[];
  isInTransaction: boolean;
}

/** Reports every commit that changes something, before it is sent: of a transaction, or of a statement of its own. */
function watchCommits(onCommit: (connection: WireConnection) => void): void {
  const writing = new Map<string, boolean>();
  const { prototype } = (pg as unknown as { Connection: { prototype: Record<string, Work> } }).Connection;
  const { parse, bind } = prototype;
  prototype.parse = function (this: unknown, ...args) {
    const [{ name, text }] = args as [{ name: string; text: string }];
    writing.set(name, isWrite(text));
    return parse?.apply(this, args);
  };
  prototype.bind = function (this: WireConnection, ...args) {
    const [{ statement }] = args as [{ statement: string }];
    this.writes ??= [];
    if (writing.get(statement)) this.writes.push(statement);
    if (statement === 'db.begin') this.isInTransaction = true;
    const ends = statement === 'db.commit' || statement === 'db.rollback';
    if (statement === 'db.commit' || (!this.isInTransaction && writing.get(statement))) {
      if (this.writes.length > 0) onCommit(this);
    }
    if (ends) this.isInTransaction = false;
    if (!this.isInTransaction) this.writes = [];
    return bind?.apply(this, args);
  };
}

export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
