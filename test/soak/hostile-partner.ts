import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { percentile } from '../../bench/frame/statistics.ts';
import { startNameServer } from '../harness/name-server.ts';
import { type GatewayProcess, readSandboxFile, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';
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
  readonly attack: HostileRound;
  readonly say?: (text: string) => void;
}

export interface SoakPartner {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly walletPrivateKey: string;
  readonly chain: { readonly slug: string; readonly chainId: number; readonly rpcUrl: string };
}

export interface MeasuredRound {
  readonly seconds: number;
  readonly aSecond: number;
}

export interface MeasuredResult {
  /** Milliseconds by what was asked. */
  readonly latencies: Readonly<Record<string, readonly number[]>>;
  /** What was not answered 200: status and code. */
  readonly failures: readonly string[];
}

export interface Round {
  readonly hostile: HostileResult | null;
  readonly measured: MeasuredResult;
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

type Hex = `0x${string}`;
/** A sandbox's own are wide, for the tests of its users; these are what production has when nothing is said. */
const PRODUCTION_LIMITS = {
  RATE_LIMIT_PARTNER_PER_MINUTE: '6000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '1200',
  RATE_LIMIT_WRONG_KEYS_PER_MINUTE: '30',
  PARTNER_TIME_SHARE_PCT: '20',
};
const CLIENT_NICENESS = 19;
const DEPOSIT_EVERY_MS = 4_000;
const POLL_MS = 150;
/** Of Linux, whatever the kernel's own. */
const TICKS_A_SECOND = 100;

export async function runHostilePartner(options: HostileRunOptions): Promise<Round[]> {
  const { say = () => {} } = options;
  const home = await mkdtemp(join(tmpdir(), 'causeway-hostile-'));
  const names = await startNameServer();
  const nodes = startLoadProcess('./chain-nodes.ts', CLIENT_NICENESS);
  const hostile = startLoadProcess('./hostile-load.ts', CLIENT_NICENESS);
  const measured = startLoadProcess('./measured-load.ts');
  let gateway: GatewayProcess | undefined;
  let worker: GatewayProcess | undefined;
  try {
    const env = {
      PORT: '0',
      CHAIN_RPC_URLS: await nodes.ask<string>('start'),
      DNS_SERVERS: names.address,
      ...PRODUCTION_LIMITS,
    };
    gateway = startProcess({ ...env, CAUSEWAY_HOME: home }, ['api']);
    worker = startProcess(await besides(home, env, gateway), ['worker']);
    await Promise.all([gateway.ready(), worker.ready()]);
    const [first, second] = await partnersOf(home);
    await Promise.all([hostile.ask('prepare', first), measured.ask('prepare', second)]);
    const depositor = await prepareDeposits(second);
    const processes = {
      gateway: gateway.child.pid,
      worker: worker.child.pid,
      nodes: nodes.child.pid,
      hostile: hostile.child.pid,
    };
    const rounds: Round[] = [];
    // The first requests of every kind compile what they need: rounds that count for nothing.
    const { warmUpSeconds = 0 } = options;
    for (const isHostile of warmUpSeconds > 0 ? [false, true] : []) {
      await playRound(isHostile, { ...options, secondsARound: warmUpSeconds });
    }
    for (let n = 0; n < options.rounds * 2; n++) {
      // Each pair in the other order than the one before: what drifts meets both kinds alike.
      const isHostile = n % 4 === 1 || n % 4 === 2;
      const round = await playRound(isHostile, options);
      rounds.push(round);
      say(describeRound(round));
    }
    return rounds;

    async function playRound(
      isHostile: boolean,
      { secondsARound, requestsASecond, attack }: HostileRunOptions,
    ) {
      if (isHostile) await hostile.ask('begin', attack);
      const [before, began] = [await processorSeconds(processes), performance.now()];
      const [answers, deposits] = await Promise.all([
        measured.ask<MeasuredResult>('round', { seconds: secondsARound, aSecond: requestsASecond }),
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
    worker?.child.kill('SIGTERM');
    await worker?.exited;
    gateway?.child.kill('SIGTERM');
    await gateway?.exited;
    await nodes.stop();
    names.socket.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** What a second process of the same deployment is told. */
async function besides(
  home: string,
  env: Readonly<Record<string, string>>,
  first: GatewayProcess,
): Promise<Record<string, string>> {
  await until('the database', () => /Starting the API/.test(first.output()));
  const { password } = JSON.parse(await readFile(join(home, 'postgres-secrets.json'), 'utf8'));
  const port = (await readFile(join(home, 'postgres-port'), 'utf8')).trim();
  const own = join(home, 'worker');
  await mkdir(own);
  await cp(join(home, SECRETS_FILE), join(own, SECRETS_FILE));
  return {
    ...env,
    CAUSEWAY_HOME: own,
    DATABASE_URL: `postgres://causeway:${password}@127.0.0.1:${port}/causeway`,
  };
}

async function partnersOf(home: string): Promise<[SoakPartner, SoakPartner]> {
  const { base_url: baseUrl, partners, chains } = await readSandboxFile(home);
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

/** Since their start, with what their children used under the name `database`; nothing where /proc does not tell. */
async function processorSeconds(
  processes: Readonly<Record<string, number | undefined>>,
): Promise<Record<string, number>> {
  const ticks = new Map<number, { parent: number; own: number; gone: number }>();
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = line
      .slice(line.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, own = 0, gone = 0] = [fields[1], sum(fields.slice(11, 13)), sum(fields.slice(13, 15))];
    ticks.set(Number(name), { parent, own, gone });
  }
  const below = (pid: number): number =>
    sum(
      [...ticks]
        .filter(([, { parent }]) => parent === pid)
        .map(([child, { own, gone }]) => own + gone + below(child)),
    );
  const seconds: Record<string, number> = {};
  for (const [name, pid = 0] of Object.entries(processes))
    seconds[name] = (ticks.get(pid)?.own ?? 0) / TICKS_A_SECOND;
  seconds.database = below(processes.gateway ?? 0) / TICKS_A_SECOND;
  return seconds;
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
    ...measured.failures,
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
    ...measured.failures.map((line) => `measured: ${line}`),
    ...answers.map((line) => `hostile: ${line}`),
  ];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
