import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** A real local chain for tests: its own process on a free loopback port, gone when stopped. */
export interface LocalAnvil {
  rpcUrl: string;
  stop(): Promise<void>;
}

/** Starts anvil and resolves once it listens. `extraArguments` go to anvil as they are. */
export async function startAnvil(
  chainId: number,
  extraArguments: readonly string[] = [],
): Promise<LocalAnvil> {
  const child = spawn(
    anvilBinary(),
    ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId), ...extraArguments],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);

  const stderr: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`anvil exited with ${code}: ${stderr.join('')}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listening = /^Listening on 127\.0\.0\.1:(\d+)$/.exec(line);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
  });

  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    stop: async () => {
      process.off('exit', killWithParent);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** The native program itself, not npm's wrapper around it: one process to end instead of two. */
function anvilBinary(): string {
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const executable = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  return createRequire(wrapper).resolve(
    `@foundry-rs/anvil-${process.platform}-${architecture}/bin/${executable}`,
  );
}
