import { spawn } from 'node:child_process';

/** Many more random histories of orders than a test run leads: npm run histories [-- count [seed]] */
const [count = '1000', seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2);
process.stdout.write(`${count} histories, seed ${seed}\n`);
const child = spawn('vitest', ['run', 'test/histories'], {
  stdio: 'inherit',
  env: { ...process.env, HISTORIES: count, HISTORIES_SEED: seed },
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
