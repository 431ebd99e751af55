import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Causeway } from '@causeway/sdk';
import { privateKeySigner, trustOfSandbox } from '@causeway/sdk/signing';
import { balanceTheBooks } from './demo/account-table.ts';
import { playOfframp, playOnramp, playRefund } from './demo/acts.ts';
import { type Chain, createChain, formatAmount } from './demo/chain.ts';
import { createNarrator, gistOf, type Narrator } from './demo/narrator.ts';
import { type DemoSandbox, findSandbox, startSandbox } from './demo/running-sandbox.ts';
import { receiveWebhooks } from './demo/webhooks.ts';

/**
 * npm run demo [-- --fast]
 *
 * One on-ramp with send-out, one off-ramp, one refund, told as they happen: calls, webhooks, and what moved on the chains. In the
 * sandbox that runs in this folder, or in one of its own. `--fast` makes no pauses; without a terminal there are none.
 */
const TOKEN = 'USDC';

/** What is to be undone, whatever happens; the last begun first. */
const endings: (() => Promise<void>)[] = [];
let isEnding = false;

async function endAll(): Promise<void> {
  isEnding = true;
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}

/** Prints each call of the client, and of repeated reads those that show something new. */
function narratedFetch(narrator: Narrator): typeof fetch {
  const shown = new Map<string, string>();
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.headers.get('content-type')?.includes('json')) return response;
    const { pathname } = new URL(String(input));
    const method = init?.method ?? 'GET';
    const gist = gistOf(await response.clone().json(), pathname);
    if (method !== 'GET' || shown.get(pathname) !== gist)
      narrator.call(method, pathname, response.status, gist);
    if (method === 'GET') shown.set(pathname, gist);
    return response;
  };
}

interface Token {
  readonly chain: Chain;
  readonly decimals: number;
}

/** The chain where partners settle, and the one to send to. */
function tokensOf({ chains }: DemoSandbox): { here: Token; there: Token } {
  const [here, there] = chains.map(({ slug, rpc_url, signing }) => {
    const token = signing?.tokens.find(({ code }) => code === TOKEN);
    if (token === undefined) throw new Error(`${slug} has no ${TOKEN}`);
    return { chain: createChain(slug, rpc_url, token.address), decimals: token.decimals };
  });
  if (here === undefined || there === undefined) throw new Error('this sandbox has not two chains');
  return { here, there };
}

async function heldBy({ chain, decimals }: Token, address: string): Promise<string> {
  return formatAmount(await chain.balance(address, await chain.block()), decimals);
}

async function play(sandbox: DemoSandbox, narrator: Narrator): Promise<boolean> {
  const { base_url: baseUrl, partners } = sandbox;
  const [partner] = partners;
  if (partner === undefined) throw new Error('this sandbox has no partner');
  const { api_key: apiKey, wallet_private_key: key } = partner;
  const { here, there } = tokensOf(sandbox);
  const causeway = new Causeway({ baseUrl, apiKey, fetch: narratedFetch(narrator) });
  const trust = trustOfSandbox(sandbox);
  const parties = {
    partner: trust.wallet,
    treasury: trust.treasury ?? '',
    solver: trust.bridgeSolvers?.[0] ?? '',
    // An address that nobody has used: what it holds in the end came from here.
    destination: `0x${randomBytes(20).toString('hex')}`,
  };
  await narrator.tell(`${partner.name} at ${baseUrl}; wallet ${trust.wallet} on ${here.chain.name}.`);
  const receiver = await receiveWebhooks(causeway, narrator);
  endings.push(receiver.stop);

  async function showBalances(escrow: string): Promise<void> {
    const addresses = [escrow, parties.partner, parties.treasury];
    const [locked, wallet, treasury] = await Promise.all(addresses.map((address) => heldBy(here, address)));
    const sent = await heldBy(there, parties.destination);
    narrator.balances(
      `on chain: escrow ${locked}, partner wallet ${wallet}, treasury ${treasury}, destination ${sent} ${TOKEN}`,
    );
  }
  const stage = { causeway, trust, narrator, showBalances, follow: receiver.follow };
  const signing = { ...stage, signer: privateKeySigner(key) };
  const watched = {
    settlement: { chain: here.chain, fromBlock: await here.chain.block() },
    other: { chain: there.chain, fromBlock: await there.chain.block() },
  };
  const onramp = await playOnramp(signing, {
    destination_chain: there.chain.name,
    destination_address: parties.destination,
  });
  const offramp = await playOfframp(signing);
  const refund = await playRefund(signing);
  const hasAll = await receiver.hasReceived([
    `${onramp.orderId} send_out_completed`,
    `${offramp.orderId} completed`,
    `${refund.orderId} order.refund.required`,
  ]);
  endings.pop();
  await receiver.stop();

  await narrator.heading('What moved, read from the chains');
  const quiet = new Causeway({ baseUrl, apiKey });
  const played = { onramp, offramp, refund };
  const { columns, rows, checks } = await balanceTheBooks(quiet, watched, played, parties, here.decimals);
  narrator.table(columns, rows);
  await narrator.heading('Does it add up?');
  const verdicts = [
    ...checks,
    {
      isGood: hasAll && receiver.refused() === 0,
      text: `${receiver.count()} webhooks came, each with the right signature; ${receiver.refused()} were refused`,
    },
  ];
  for (const { isGood, text } of verdicts) narrator.verdict(isGood, text);
  return verdicts.every(({ isGood }) => isGood);
}

const { values } = parseArgs({ options: { fast: { type: 'boolean', default: false } } });
const narrator = createNarrator(process.stdout, values.fast);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await endAll();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}
try {
  await narrator.heading('Causeway: one on-ramp with send-out, one off-ramp, one refund');
  let running = await findSandbox(process.env.CAUSEWAY_HOME ?? '.causeway');
  if (running === undefined) {
    await narrator.tell('No sandbox runs here: starting one, which goes again at the end.');
    running = (await startSandbox(endings)).sandbox;
  }
  const addsUp = await play(running, narrator);
  await narrator.heading(addsUp ? 'It adds up exactly.' : 'It does not add up.');
  process.exitCode = addsUp ? 0 : 1;
} catch (error) {
  if (!isEnding) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await endAll();
}
