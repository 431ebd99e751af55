import { spawn } from 'node:child_process';
import { flag, type Run } from '../command.ts';
import { fetchPage } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';

/** Prints the address of a page of the deployment; at a terminal the browser shows it. */
export const open: Run = async (invocation) => {
  const { args, env, output, profile, signal } = invocation;
  const { baseUrl } = await profile();
  const page = args[0] ?? '';
  const address = `${baseUrl.replace(/\/+$/, '')}/${page}`;
  let status: number;
  try {
    ({ status } = await fetchPage(baseUrl, `/${page}`, signal));
  } catch {
    throw new CommandError(`${baseUrl} does not answer.`, {
      exitCode: EXIT.unavailable,
      hint: 'causeway doctor says what is wrong.',
    });
  }
  if (status >= 400) {
    throw new CommandError(`This deployment has no ${page}: ${address} answers ${status}.`, {
      exitCode: status >= 500 ? EXIT.unavailable : EXIT.notFound,
      hint:
        page === 'console' ? 'The console comes with a later release of the service.' : 'Ask its operator.',
    });
  }
  const isOpened = output.interactive && !flag(invocation, 'print');
  output.result({ url: address, opened: isOpened }, () => address);
  if (isOpened) await browse(address, env.BROWSER);
};

function browse(address: string, browser: string | undefined): Promise<void> {
  const [program, ...before] = browser ? [browser] : programOf(process.platform);
  return new Promise((resolve) => {
    const child = spawn(program ?? '', [...before, address], { stdio: 'ignore', detached: true });
    // The address is printed: without a browser it can be copied.
    child.once('error', () => resolve());
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

function programOf(platform: string): string[] {
  if (platform === 'darwin') return ['open'];
  return platform === 'win32' ? ['explorer.exe'] : ['xdg-open'];
}
