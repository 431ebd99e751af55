import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Causeway, isCausewayError } from '@causeway/sdk';
import { privateKeySigner, type SandboxFile, trustOfSandbox } from '@causeway/sdk/signing';

/** What every example needs of the sandbox that runs in another terminal (`npm start`). Yours has all of this in its configuration. */
interface Sandbox extends SandboxFile {
  readonly base_url: string;
  readonly operator_key: string;
  readonly partners: readonly (SandboxFile['partners'][number] & Secrets)[];
  readonly chains: readonly (SandboxFile['chains'][number] & { readonly rpc_url: string })[];
}
interface Secrets {
  readonly name: string;
  readonly api_key: string;
  readonly wallet_private_key: string;
}

const home = process.env.CAUSEWAY_HOME ?? '.causeway';

export const sandbox: Sandbox = await readFile(`${home}/sandbox.json`, 'utf8')
  .then((text) => JSON.parse(text))
  .catch(() => giveUp(`There is no sandbox in ${home}.`));

export const clientWith = (apiKey: string | undefined) =>
  new Causeway({ baseUrl: sandbox.base_url, apiKey: apiKey ?? '' });

/** The client of the sandbox's first partner. */
export const causeway = clientWith(sandbox.partners[0]?.api_key);
await causeway.orders.list({ limit: 1 }, { maxRetries: 0 }).catch(explain);

/** The wallet of a partner. In production: a key store or a wallet service that signs EIP-712 typed data. */
export function walletOf(partner = 0) {
  const signer = privateKeySigner(sandbox.partners[partner]?.wallet_private_key ?? '');
  return { signer, trust: trustOfSandbox(sandbox, { partner }) };
}

/** The file outlives the sandbox that wrote it, and another program may have its port by now. */
function explain(error: unknown): never {
  const isOther = isCausewayError(error, 'INVALID_ANSWER') || isCausewayError(error, 'UNAUTHORIZED');
  const at = sandbox.base_url;
  if (isOther) giveUp(`The sandbox of ${home} does not run: what answers at ${at} is another program.`);
  if (isCausewayError(error, 'CONNECTION_FAILED'))
    giveUp(`The sandbox of ${home} does not run: nothing answers at ${at}.`);
  throw error;
}

function giveUp(what: string): never {
  const advice =
    'Start one with `npm start` and try again when it says that it is ready. If it has another folder, name that: CAUSEWAY_HOME.';
  process.stderr.write(`${what}\n${advice}\n`);
  process.exit(1);
}

export function say(step: string, text: string): void {
  process.stdout.write(`${step.padEnd(22)} ${text}\n`);
}

/** A new customer, verified: a sandbox may decide KYC itself. */
export async function verifiedCustomer(first_name: string, last_name: string): Promise<string> {
  const email = `${first_name}.${process.hrtime.bigint()}@example.com`.toLowerCase();
  const { id } = await causeway.users.create({ email, first_name, last_name });
  await causeway.sandbox.kycStatus(id, { status: 'VERIFIED' });
  say('customer', `${id}, KYC verified`);
  return id;
}

/** Reads until it is so, for a minute. */
export async function until<Read>(
  read: () => PromiseLike<Read>,
  isSo: (read: Read) => boolean,
): Promise<Read> {
  for (const deadline = performance.now() + 60_000; ; await sleep(200)) {
    const seen = await read();
    if (isSo(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`Still not so: ${JSON.stringify(seen)}`);
  }
}
