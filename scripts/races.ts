import { spawn } from 'node:child_process';

/** Many more rounds of each race than a test run plays: npm run races [-- rounds] */
const [rounds = '1000'] = process.argv.slice(2);
const child = spawn('vitest', ['run', 'test/races'], {
  stdio: 'inherit',
  env: { ...process.env, RACE_ROUNDS: rounds },
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
