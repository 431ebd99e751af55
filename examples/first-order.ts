import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A first on-ramp order against a running sandbox, with nothing but fetch: `npm run first-order` in a second terminal.
 * Each step prints the call and what matters of its answer.
 */
// biome-ignore lint/style/noProcessEnv: a program of its own; it looks where the sandbox was told to live.
const home = process.argv[2] ?? process.env.CAUSEWAY_HOME ?? '.causeway';
const sandbox = await readFile(`${home}/sandbox.json`, 'utf8')
  .then((text) => JSON.parse(text))
  .catch(() => giveUp(`There is no sandbox in ${home}.`));
const key: string = sandbox.partners[0].api_key;

/** The file outlives the sandbox that wrote it, and another program may have its port by now. */
function giveUp(what: string): never {
  process.stderr.write(
    `${what}\nStart one with \`npm start\` and try again when it says that it is ready. If its CAUSEWAY_HOME is another folder,\n` +
      'name that: `npm run first-order -- <folder>`.\n',
  );
  process.exit(1);
}

interface Answer {
  readonly success: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an example reads answers of every shape.
  readonly data: any;
  readonly error?: { readonly code: string; readonly message: string };
}

async function call(method: string, path: string, body?: unknown): Promise<Answer['data']> {
  const response = await fetch(sandbox.base_url + path, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => giveUp(`The sandbox of ${home} does not run: nothing answers at ${sandbox.base_url}.`));
  const answer = (await response.json().catch(() => undefined)) as Answer | undefined;
  if (typeof answer?.success !== 'boolean' || answer.error?.code === 'UNAUTHORIZED') {
    giveUp(`The sandbox of ${home} does not run: what answers at ${sandbox.base_url} is another program.`);
  }
  if (!answer.success) throw new Error(`${method} ${path}: ${answer.error?.code} ${answer.error?.message}`);
  return answer.data;
}

function say(step: string, text: string): void {
  process.stdout.write(`${step.padEnd(22)} ${text}\n`);
}

const email = `ada.${process.hrtime.bigint()}@example.com`;
const user = await call('POST', '/api/v1/partner/users', { email });
say('customer', user.id);

await call('POST', `/api/v1/sandbox/users/${user.id}/kyc-status`, { status: 'VERIFIED' });
say('KYC', 'VERIFIED (a sandbox may decide it)');

const quote = await call('POST', '/api/v1/partner/onramp/quote', {
  user_uuid: user.id,
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount: '100.00',
  partner_fee_pct: '1',
});
say(
  'quote',
  `100.00 EUR buys ${quote.crypto_amount} USDC at ${quote.rate}, fees ${quote.fee_breakdown.total_fee} USDC`,
);

let order = await call('POST', '/api/v1/partner/onramp/initiate', {
  quote_id: quote.quote_id,
  reference_id: 'my-first-order',
});
say('order', order.order_id);

let shown = '';
while (order.next_action !== 'none') {
  order = await call('GET', `/api/v1/partner/orders/${order.order_id}`);
  if (order.status !== shown) say('', order.status);
  shown = order.status;
  if (order.next_action === 'confirm_payment_sent') {
    await call('POST', order.action_required.endpoint);
    say('', '→ your customer has paid: confirm-payment-sent');
  }
  await sleep(200);
}
say('on chain', `${order.tx_hash} on ${sandbox.chains[0].slug} (${sandbox.chains[0].rpc_url})`);
