import { readFileSync } from 'node:fs';
import { flushCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installFailpoints } from './runtime.ts';

/**
 * The gateway's own main program, with failpoints: its files are loaded in their instrumented form, everything else is as
 * `npm start` has it. It loads the program at once and starts it when it is told to, so that one can stand by.
 */
const [folder = '', gateway = '', ...roles] = process.argv.slice(2);
const instrumented = JSON.parse(readFileSync(join(folder, 'instrumented.json'), 'utf8')) as Record<
  string,
  string
>;
const root = pathToFileURL(gateway).href;

registerHooks({
  load(url, context, nextLoad) {
    const source = url.startsWith(root) ? instrumented[url.slice(root.length)] : undefined;
    if (source === undefined) return nextLoad(url, context);
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});

const load = (path: string) => import(`${root}${path}`);
process.once('message', () => {
  // What was hit by the processes before is known only now.
  installFailpoints(folder);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...roles);
  void load('main.ts');
});
await Promise.all(
  [
    'serve.ts',
    'worker.ts',
    'api.ts',
    'sandbox.ts',
    'features/sandbox/seed.ts',
    'db/migrate.ts',
    'local/local-services.ts',
  ].map(load),
);
flushCompileCache();
process.send?.('loaded');
