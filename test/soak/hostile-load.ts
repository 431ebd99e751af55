import { setTimeout as sleep } from 'node:timers/promises';
import { eventFlood } from '@causeway/contracts';
import {
  createPublicClient,
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  http,
  type PublicClient,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import {
  THIRD_PARTY,
  THIRD_PARTY_DESTINATION,
  type ThirdPartyIds,
  thirdPartyQuote,
} from '../harness/third-party-payout.ts';
import type { Attack, Flood, HostileResult, HostileRound, SoakPartner } from './hostile-partner.ts';
import { answerParent, expectSuccess, type LoadAnswer, type LoadCall, loadClient } from './load-process.ts';

/** A partner that does everything at once that has ever held up the others, as fast as answers come. */
type Hex = `0x${string}`;
const INITIATES_AT_ONCE = 16;
const OPENERS = 8;
const REGISTRATIONS_AT_ONCE = 8;
const GUESSERS = 4;
const CUSTOMERS = 4;
/** A few of these and nothing more fits into what a partner, or one of its customers, may hold. */
const LARGE_ORDER = { crypto_currency: 'USDC', fiat_currency: 'EUR', crypto_amount: '90000' };
const FLOOD_GAS = 90_000_000n;

let call: LoadCall;
let sender: string;
let recipient: ThirdPartyIds;
let customers: string[];
let flood: (kind: 'pretend' | 'dust', times: number) => Promise<void>;

async function prepare(partner: SoakPartner): Promise<void> {
  call = loadClient(partner.baseUrl, partner.apiKey);
  await expectSuccess(call('PUT', '/sandbox/settings', { auto_advance: false }));
  customers = [];
  for (let n = 0; n < CUSTOMERS; n++) customers.push(await customer(`customer${n}@example.com`));
  sender = await customer('sender@example.com', SUBMISSION);
  const { recipient_id } = await expectSuccess(call('POST', '/partner/recipients', THIRD_PARTY));
  const { recipient_destination_id } = await expectSuccess(
    call('POST', `/partner/recipients/${recipient_id}/destinations`, THIRD_PARTY_DESTINATION),
  );
  await expectSuccess(
    call('POST', `/sandbox/recipients/${recipient_id}/screening-status`, { screening_status: 'clear' }),
  );
  recipient = { recipient_id, recipient_destination_id };
  flood = await prepareFlood(partner);
}

async function customer(email: string, submission?: object): Promise<string> {
  const { id } = await expectSuccess(call('POST', '/partner/users', { email }));
  if (submission !== undefined) await expectSuccess(call('POST', `/partner/users/${id}/kyc`, submission));
  await expectSuccess(call('POST', `/sandbox/users/${id}/kyc-status`, { status: 'VERIFIED' }));
  return id;
}

const offrampQuote = () => call('POST', '/partner/offramp/quote', thirdPartyQuote(sender, recipient));

/** An order of its own, whose escrow is watched, and a contract that fills blocks with logs about it. */
async function prepareFlood({ chain, walletPrivateKey }: SoakPartner): Promise<typeof flood> {
  const { quote_id } = await expectSuccess(offrampQuote());
  const { order_id } = await expectSuccess(call('POST', '/partner/offramp/initiate', { quote_id }));
  const { escrow_address: escrow, token_address: usdc } = await expectSuccess(
    call('GET', `/partner/orders/${order_id}/transfer-authorization-parameters`),
  );
  const account = privateKeyToAccount(walletPrivateKey as Hex);
  const transport = http(chain.rpcUrl);
  const client: PublicClient = createPublicClient({ transport, pollingInterval: 100 });
  const wallet = createWalletClient({
    account,
    chain: viemChain(chain.slug, chain.chainId, chain.rpcUrl),
    transport,
  });
  const send = async (to: Hex | null, data: Hex, gas: bigint) => {
    const hash = await wallet.sendTransaction({ to, data, gas });
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== 'success') throw new Error('the flood was refused');
    return receipt;
  };
  const { contractAddress } = await send(null, encodeDeployData(eventFlood), 2_000_000n);
  const contract = contractAddress as Hex;
  const stock = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [contract, 10_000_000n],
  });
  await send(usdc, stock, 200_000n);
  return async (kind, times) => {
    const data =
      kind === 'pretend'
        ? encodeFunctionData({ abi: eventFlood.abi, functionName: 'pretend', args: [escrow, BigInt(times)] })
        : encodeFunctionData({
            abi: eventFlood.abi,
            functionName: 'dust',
            args: [usdc, escrow, BigInt(times)],
          });
    await send(contract, data, FLOOD_GAS);
  };
}

let running = false;
let working: Promise<unknown>[] = [];
let result: Record<string, number> = {};
let openOrders: string[] = [];

function count(what: string, answer: LoadAnswer): LoadAnswer {
  const line = [what, answer.status, answer.body?.error?.code].filter((part) => part !== undefined).join(' ');
  result[line] = (result[line] ?? 0) + 1;
  return answer;
}

const asked = async (what: string, answer: Promise<LoadAnswer>) =>
  count(
    what,
    await answer.catch((error: Error) => ({ status: 0, body: { error: { code: error.message } } })),
  );

/** Reads the sender's identity each time, and makes room for the next. */
async function initiateOfframp(): Promise<void> {
  const quote = await asked('off-ramp quote', offrampQuote());
  if (quote.status !== 200) return;
  const { quote_id } = quote.body.data;
  const made = await asked('off-ramp initiate', call('POST', '/partner/offramp/initiate', { quote_id }));
  if (made.status !== 200) return;
  await asked('cancel', call('POST', `/partner/orders/${made.body.data.order_id}/cancel`));
}

async function openOrder(n: number): Promise<void> {
  const user_uuid = customers[n % customers.length];
  const quote = await asked(
    'on-ramp quote',
    call('POST', '/partner/onramp/quote', { ...LARGE_ORDER, user_uuid }),
  );
  if (quote.status !== 200) return;
  const { quote_id } = quote.body.data;
  const made = await asked('on-ramp initiate', call('POST', '/partner/onramp/initiate', { quote_id }));
  if (made.status === 200) openOrders.push(made.body.data.order_id);
}

let names = 0;
const registerSilentName = () =>
  asked('webhook', call('POST', '/partner/webhooks', { url: `https://n${names++}.silent.test/hook` }));
const guessKey = () =>
  asked('wrong key', call('GET', '/partner/orders', undefined, { 'x-api-key': `cw_test_guess${names++}` }));

async function floodOnce({ fakeEvents, dust, everyMs }: Flood): Promise<void> {
  const began = performance.now();
  await flood('pretend', fakeEvents);
  await flood('dust', dust);
  result['flooded blocks'] = (result['flooded blocks'] ?? 0) + 2;
  await sleep(Math.max(0, began + everyMs - performance.now()));
}

async function begin({ attacks, flood: size }: HostileRound): Promise<void> {
  running = true;
  result = {};
  const loops: Record<Attack, [times: number, work: (n: number) => Promise<unknown>]> = {
    initiates: [INITIATES_AT_ONCE, initiateOfframp],
    'open-orders': [OPENERS, openOrder],
    'silent-names': [REGISTRATIONS_AT_ONCE, registerSilentName],
    'wrong-keys': [GUESSERS, guessKey],
    flood: [1, () => floodOnce(size)],
  };
  working = attacks.flatMap((attack) => {
    const [times, work] = loops[attack];
    return Array.from({ length: times }, async (_, n) => {
      while (running) await work(n);
    });
  });
}

/** Lets what is under way end, and gives everything back, so that the next round finds things as this one did. */
async function end(): Promise<HostileResult> {
  running = false;
  await Promise.all(working);
  const counted = result;
  for (const id of openOrders) await expectSuccess(call('POST', `/partner/orders/${id}/cancel`));
  openOrders = [];
  return counted;
}

answerParent({ prepare, begin, end });
