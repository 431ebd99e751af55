import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { percentile } from '../../bench/frame/statistics.ts';
import { playUndisturbed } from '../../bench/frame/undisturbed.ts';
import { startNameServer } from '../harness/name-server.ts';
import { until } from '../harness/until.ts';
import { type Deployment, processorSeconds, startDeployment } from '../load/deployment.ts';
import { type LoadResult, type LoadRound, REQUEST_KINDS } from '../load/partner-requests.ts';
import type { PreparedLoad } from '../load/prepare-partners.ts';
import {
  expectSuccess,
  type LoadCall,
  type LoadProcess,
  loadClient,
  startLoadProcess,
} from './load-process.ts';

/**
 * One partner does all it can to hold up the others, while another's requests are measured, by turns with rounds in which
 * it keeps quiet. An api and a worker are processes of their own, as a deployment has them; so are the chains' nodes and both
 * partners, and those that are not part of a deployment yield the processor to those that are.
 */
export interface HostileRunOptions {
  /** Of each kind. */
  readonly rounds: number;
  readonly secondsARound: number;
  /** Of each kind, before anything counts. */
  readonly warmUpSeconds?: number;
  readonly requestsASecond: number;
  /** Rounds that the host of the machine disturbed are played again, at most so many times as many in all. */
  readonly repeats?: number;
  /** Nothing else runs on the machine: nodes and attacker then take nothing that the deployment could use. */
  readonly isAlone?: boolean;
  readonly attack: HostileRound;
  readonly say?: (text: string) => void;
}

export interface SoakPartner {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly walletPrivateKey: string;
  readonly chain: { readonly slug: string; readonly chainId: number; readonly rpcUrl: string };
}

export interface Round {
  readonly hostile: HostileResult | null;
  readonly measured: LoadResult;
  /** Milliseconds from a deposit's block to its order's next status. */
  readonly deposits: readonly number[];
  /** Shares of one core, by process. */
  readonly cores: Readonly<Record<string, number>>;
}

export interface Flood {
  readonly fakeEvents: number;
  readonly dust: number;
  readonly everyMs: number;
}

export const ATTACKS = ['initiates', 'open-orders', 'silent-names', 'wrong-keys', 'flood'] as const;
export type Attack = (typeof ATTACKS)[number];

export interface HostileRound {
  readonly attacks: readonly Attack[];
  readonly flood: Flood;
}

/** How many of each it got: what it did, status and code. */
export type HostileResult = Readonly<Record<string, number>>;

export interface HostileRun {
  /** Quiet and hostile by turns. */
  readonly rounds: readonly Round[];
  /** Of each pair of rounds: which part of the processors' time the host gave to others. */
  readonly stolen: readonly number[];
}

type Hex = `0x${string}`;
const DEPOSIT_EVERY_MS = 4_000;
const POLL_MS = 150;

export async function runHostilePartner(options: HostileRunOptions): Promise<HostileRun> {
  const { say = () => {}, isAlone = false } = options;
  const names = await startNameServer();
  const hostile = startLoadProcess('./hostile-load.ts');
  hostile.yieldProcessor({ onlyIdle: isAlone });
  const measured = startLoadProcess('../load/load-generator.ts');
  let deployment: Deployment | undefined;
  try {
    deployment = await startDeployment({
      ...{ roles: 'apart', env: { DNS_SERVERS: names.address }, nodesOnlyIdle: isAlone },
    });
    const [first, second] = partnersOf(deployment);
    const load: PreparedLoad = {
      ...{ baseUrl: second.baseUrl, operatorKey: deployment.description.operator_key },
      ...{ partners: 1, apiKeys: [second.apiKey] },
    };
    await Promise.all([hostile.ask('prepare', first), measured.ask('prepare', load)]);
    const depositor = await prepareDeposits(second);
    const processes = { ...deployment.processes, hostile: hostile.child.pid };
    let played = 0;
    // The first requests of every kind compile what they need: rounds that count for nothing.
    const { warmUpSeconds = 0 } = options;
    for (const isHostile of warmUpSeconds > 0 ? [false, true] : []) {
      await playRound(isHostile, { ...options, secondsARound: warmUpSeconds });
    }
    const pairs = await playUndisturbed(
      { wanted: options.rounds, atMost: options.repeats ?? 1 },
      async (n) => {
        const pair: Round[] = [];
        // Each in the other order than the one before: what drifts meets both kinds alike.
        for (const isHostile of n % 2 === 0 ? [false, true] : [true, false]) {
          const round = await playRound(isHostile, options);
          say(describeRound(round));
          pair.push(round);
        }
        return pair;
      },
    );
    return { rounds: pairs.flatMap(({ round }) => round), stolen: pairs.map(({ stolen }) => stolen) };

    async function playRound(
      isHostile: boolean,
      { secondsARound, requestsASecond, attack }: HostileRunOptions,
    ) {
      if (isHostile) await hostile.ask('begin', attack);
      const [before, began] = [await processorSeconds(processes), performance.now()];
      const [answers, deposits] = await Promise.all([
        measured.ask<LoadResult>('round', {
          ...{ seconds: secondsARound, aSecond: requestsASecond, seed: played++, mix: REQUEST_KINDS },
        } satisfies LoadRound),
        depositFor(depositor, secondsARound * 1_000),
      ]);
      const after = await processorSeconds(processes);
      const elapsed = (performance.now() - began) / 1_000;
      const cores = Object.fromEntries(
        Object.entries(after).map(([name, seconds]) => [name, (seconds - (before[name] ?? 0)) / elapsed]),
      );
      return {
        hostile: isHostile ? await hostile.ask<HostileResult>('end') : null,
        measured: answers,
        deposits,
        cores,
      };
    }
  } finally {
    await Promise.all([hostile, measured].map((client: LoadProcess) => client.stop()));
    await deployment?.stop();
    names.socket.close();
  }
}

function partnersOf({ description }: Deployment): [SoakPartner, SoakPartner] {
  const { base_url: baseUrl, partners, chains } = description;
  const [{ slug, chain_id: chainId, rpc_url: rpcUrl }] = chains;
  return partners.map((partner: { api_key: string; wallet_private_key: string }) => ({
    baseUrl,
    apiKey: partner.api_key,
    walletPrivateKey: partner.wallet_private_key,
    chain: { slug, chainId, rpcUrl },
  }));
}

interface OfframpDriver {
  readonly call: LoadCall;
  /** The quote's body of a new customer: these orders stay open, and one customer may have only so many. */
  newCustomer(): Promise<object>;
  transfer(token: Hex, to: Hex, amount: bigint): Promise<void>;
}

/** The measured partner pays into escrows by itself; from this process, so that its other requests do not wait for it. */
async function prepareDeposits(partner: SoakPartner): Promise<OfframpDriver> {
  const { baseUrl, apiKey, walletPrivateKey, chain } = partner;
  const call = loadClient(baseUrl, apiKey);
  let customers = 0;
  const transport = http(chain.rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 20 });
  const wallet = createWalletClient({
    account: privateKeyToAccount(walletPrivateKey as Hex),
    chain: viemChain(chain.slug, chain.chainId, chain.rpcUrl),
    transport,
  });
  return {
    call,
    async newCustomer() {
      const email = `depositor${customers++}@example.com`;
      const { id } = await expectSuccess(call('POST', '/partner/users', { email }));
      await expectSuccess(call('POST', `/sandbox/users/${id}/kyc-status`, { status: 'VERIFIED' }));
      const details = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };
      const account = await expectSuccess(
        call('POST', `/partner/users/${id}/payment-details`, {
          ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE', details },
        }),
      );
      return {
        ...{ crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00', provider_scope: 'p2p' },
        ...{ user_uuid: id, payment_details_id: account.id },
      };
    },
    async transfer(address, to, amount) {
      const args = [to, amount] as const;
      const hash = await wallet.writeContract({
        abi: erc20Abi,
        address,
        functionName: 'transfer',
        args,
        gas: 200_000n,
      });
      await client.waitForTransactionReceipt({ hash });
    },
  };
}

/** One deposit after the other for this long; how long each took to be credited. */
async function depositFor(driver: OfframpDriver, ms: number): Promise<number[]> {
  const quote = await driver.newCustomer();
  const until = performance.now() + ms;
  const taken: number[] = [];
  do {
    const began = performance.now();
    taken.push(await deposit(driver, quote));
    await sleep(Math.max(0, Math.min(began + DEPOSIT_EVERY_MS, until) - performance.now()));
  } while (performance.now() < until);
  return taken;
}

async function deposit({ call, transfer }: OfframpDriver, quote: object): Promise<number> {
  const { quote_id } = await expectSuccess(call('POST', '/partner/offramp/quote', quote));
  const { order_id } = await expectSuccess(call('POST', '/partner/offramp/initiate', { quote_id }));
  const path = `/partner/orders/${order_id}`;
  const terms = await expectSuccess(call('GET', `${path}/transfer-authorization-parameters`));
  await transfer(terms.token_address, terms.escrow_address, BigInt(terms.amount_atomic));
  const paid = performance.now();
  await until('the deposit to be credited', async () => {
    await sleep(POLL_MS);
    const { status } = await expectSuccess(call('GET', path));
    return status !== 'awaiting_crypto_transfer_authorization';
  });
  return performance.now() - paid;
}

function describeRound(round: Round): string {
  const { hostile, measured, deposits, cores } = round;
  const all = latenciesOf(round);
  const shares = Object.entries(cores).map(([name, share]) => `${name} ${share.toFixed(2)}`);
  const kinds = Object.entries(measured.latencies).map(
    ([kind, some]) => `${kind} ${percentile(some, 0.99).toFixed(0)}`,
  );
  return [
    `${hostile === null ? 'quiet  ' : 'hostile'} p50 ${percentile(all, 0.5).toFixed(1)} p99 ${percentile(all, 0.99).toFixed(1)} ms (${kinds.join(', ')})`,
    `deposits ${deposits.map((ms) => ms.toFixed(0)).join(' ')} ms; cores: ${shares.join(', ')}`,
    ...failuresOf(measured),
    ...(hostile === null ? [] : [JSON.stringify(hostile)]),
  ].join('\n    ');
}

export function latenciesOf({ measured }: Round): number[] {
  return Object.values(measured.latencies).flat();
}

/** Answers that neither partner should have got: anything but success for the measured partner, 5xx and no answer for the other. */
export function brokenPromises({ hostile, measured }: Round): string[] {
  const answers = Object.keys(hostile ?? {}).filter((line) => / (0|5\d\d)( |$)/.test(line));
  return [
    ...failuresOf(measured).map((line) => `measured: ${line}`),
    ...answers.map((line) => `hostile: ${line}`),
  ];
}

const failuresOf = ({ answers }: LoadResult): string[] =>
  Object.keys(answers).filter((line) => !line.endsWith(' 200'));
