import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../test/harness/process.ts';
import { figure } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';

/** Resident memory of the API and the worker together, as a newcomer starts them, once the banner is there. */
const TARGET_MIB = 250;

export async function run(report: BenchReport): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
  const gateway = startProcess({ CAUSEWAY_HOME: home, PORT: '0' });
  try {
    await gateway.ready();
    const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8');
    const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    report.add(
      figure({
        name: 'API and worker after start',
        value: kib / 1024,
        unit: 'MiB',
        better: 'lower',
        target: TARGET_MIB,
      }),
    );
  } finally {
    gateway.child.kill('SIGINT');
    await gateway.exited;
    await rm(home, { recursive: true, force: true });
  }
}
