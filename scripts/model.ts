import { spawn } from 'node:child_process';

/** Many more random lives of orders than a test run leads: npm run model [-- runs [seed [minutes at most]]] */
const [runs = '10000', seed = String(Math.floor(Math.random() * 2 ** 31)), minutes = '0'] =
  process.argv.slice(2);
process.stdout.write(`${runs} runs, seed ${seed}\n`);
const child = spawn('vitest', ['run', 'test/model'], {
  stdio: 'inherit',
  env: { ...process.env, MODEL_RUNS: runs, MODEL_SEED: seed, MODEL_MINUTES: minutes },
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
