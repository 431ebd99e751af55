import { spawn } from 'node:child_process';

/** Many more mutated requests than a test run sends: npm run fuzz [-- requests [seed]] */
const [requests = '20000', seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2);
process.stdout.write(`${requests} requests, seed ${seed}\n`);
const child = spawn('vitest', ['run', 'test/invariants/fuzz.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_REQUESTS: requests, FUZZ_SEED: seed },
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
