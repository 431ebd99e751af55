import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takePrecedence } from './scheduling.ts';

const [ORDINARY, ROUND_ROBIN] = [0, 2];
/** Whether this machine's system knows real-time scheduling, and gives it to this account. */
const allowed = spawnSync('chrt', ['--rr', '1', 'true']).status === 0;

describe('a process that takes precedence', () => {
  let process_: ChildProcess;

  beforeAll(async () => {
    // It answers with its child's id once it is told to start one.
    const program = `process.stdin.once('data', () => console.log(require('node:child_process').spawn('sleep', ['60']).pid));
      process.on('SIGTERM', () => process.exit()); console.log('up');`;
    process_ = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(process_.stdout as NodeJS.ReadableStream, 'data');
  });
  afterAll(() => process_.kill('SIGKILL'));
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
  });

  it.runIf(allowed)('has it for its main thread, and not for what it starts', async () => {
    const pid = process_.pid as number;
    expect(await policyOf(pid)).toBe(ORDINARY);
    takePrecedence(pid);
    expect(await policyOf(pid)).toBe(ROUND_ROBIN);
    process_.stdin?.write('go\n');
    const [started] = await once(process_.stdout as NodeJS.ReadableStream, 'data');
    const child = Number(String(started));
    expect(await policyOf(child)).toBe(ORDINARY);
    process.kill(child);
  });

  it.skipIf(allowed)('is told where the system does not give it', () => {
    expect(() => takePrecedence(process_.pid)).toThrow(/not to be had here: .+LimitRTPRIO=1/s);
  });

  it('is told what is missing where the system has no such program', () => {
    process.env.PATH = '/nowhere';
    expect(() => takePrecedence(process_.pid)).toThrow('there is no chrt, of util-linux. It needs Linux');
  });
});

/** See proc_pid_stat(5). */
async function policyOf(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[38]);
}
