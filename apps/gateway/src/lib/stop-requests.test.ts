import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';

const MODULE = new URL('./stop-requests.ts', import.meta.url).href;

/** A process that says what it is asked, and when its parent has gone. */
const PROGRAM = (startedByNpm: boolean) => `
  import { watchStopRequests } from '${MODULE}';
  const say = (text) => process.stdout.write(text + '\\n');
  watchStopRequests({
    startedByNpm: ${startedByNpm},
    onStop: (reason) => say('stop: ' + reason),
    onInsist: () => { say('insist'); process.exit(1); },
  });
  const parent = process.ppid;
  let orphanedAt;
  setInterval(() => {
    if (process.ppid !== parent) orphanedAt ??= performance.now();
    if (orphanedAt !== undefined && performance.now() - orphanedAt > 1_000) { say('outlived'); process.exit(0); }
  }, 20);
  say('up ' + process.pid);
`;

const started: ChildProcess[] = [];
const pids: number[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const pid of pids.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone already, as it should be.
    }
  }
});

async function run(command: string, args: readonly string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const saying = async (what: string) => {
    while (!text.includes(what)) await once(child.stdout, 'data');
  };
  await saying('up ');
  const pid = Number(/up (\d+)/.exec(text)?.[1]);
  pids.push(pid);
  return { child, pid, saying, output: () => text };
}

function direct(startedByNpm: boolean) {
  return run(process.execPath, ['--input-type=module', '-e', PROGRAM(startedByNpm)]);
}

/** Under a shell that can be killed, as npm can. */
function underParent(startedByNpm: boolean) {
  const script = '"$0" --input-type=module -e "$1"; true';
  return run('sh', ['-c', script, process.execPath, PROGRAM(startedByNpm)]);
}

describe('a request to stop', () => {
  it('that comes twice at once, as Ctrl-C does through npm, is one; asked again later it means at once', async () => {
    const { child, pid, saying, output } = await direct(false);
    process.kill(pid, 'SIGINT');
    await saying('stop: stopped by SIGINT');
    const asked = performance.now();
    const ended = once(child, 'exit');
    const asking = setInterval(() => child.kill('SIGINT'), 50);
    const [code] = await ended;
    clearInterval(asking);
    expect(performance.now() - asked).toBeGreaterThan(900);
    expect(code).toBe(1);
    expect(output().match(/stop:/g)).toHaveLength(1);
    expect(output()).toContain('insist');
  });

  it('is that the npm which started the process is gone', async () => {
    const { child, saying } = await underParent(true);
    child.kill('SIGKILL');
    await saying('stop: npm, which started this process, is gone');
  });

  it('is not that a shell which started it in the background is gone', async () => {
    const { child, saying, output } = await underParent(false);
    child.kill('SIGKILL');
    await saying('outlived');
    expect(output()).not.toContain('stop:');
  });
});
