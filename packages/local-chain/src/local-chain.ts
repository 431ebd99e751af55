import { randomBytes } from 'node:crypto';
import { type Hex, RPC_CODES, RpcError } from './evm-engine.ts';
import type { Entry, SentTransaction } from './journal.ts';
import { RecordedChain, type RecordingOptions } from './recorded-chain.ts';
import { mine, sendToEngine, setEngineClock } from './replay.ts';

export type { Entry } from './journal.ts';

export interface LocalChainOptions extends RecordingOptions {
  /** Empty blocks to put above each transaction; 0 for none. */
  readonly confirmations?: number;
  /** Milliseconds since 1970. */
  readonly machineTime?: () => number;
}

type Params = readonly unknown[];
type Method = (params: Params) => Promise<unknown>;

const CONFIRM_AFTER_MS = 100;
/** A full disk refuses these blocks too; each try plays the whole chain. */
const CONFIRM_AGAIN_MS = 5_000;
const MAX_BLOCKS_A_CALL = 10_000;

/** Changes that mine nothing and are played again as they were asked for. */
const SETTERS = [
  'hardhat_setBalance',
  'hardhat_setCode',
  'hardhat_setNonce',
  'hardhat_setStorageAt',
  'hardhat_setCoinbase',
  'evm_setBlockGasLimit',
  'hardhat_setNextBlockBaseFeePerGas',
  'hardhat_impersonateAccount',
  'hardhat_stopImpersonatingAccount',
];
const READS = /^(eth|net|web3|debug)_(?!sign|subscribe|unsubscribe)/;

/**
 * An EVM chain in this process. Every request, reads included, waits for its turn in one queue, and a change is in the journal
 * before it is answered: what a client has seen is what a restart brings back.
 */
export class LocalChain {
  readonly #recorded: RecordedChain;
  readonly #confirmations: number;
  readonly #machineSeconds: () => number;
  readonly #methods: ReadonlyMap<string, Method>;
  #turn: Promise<unknown> = Promise.resolve();
  #snapshots: number[] = [];
  // Settings of the running node, not part of the chain: a restart mines again, at the time it is.
  #automine = true;
  #nextTime: number | undefined;
  #confirming: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  private constructor(recorded: RecordedChain, confirmations: number, machineSeconds: () => number) {
    this.#recorded = recorded;
    this.#confirmations = confirmations;
    this.#machineSeconds = machineSeconds;
    this.#methods = this.#methodTable();
  }

  static async open(options: LocalChainOptions): Promise<LocalChain> {
    const { confirmations = 0, machineTime = Date.now } = options;
    const machineSeconds = () => Math.floor(machineTime() / 1_000);
    const recorded = await RecordedChain.open(options, machineSeconds);
    const chain = new LocalChain(recorded, confirmations, machineSeconds);
    await chain.#inTurn(() => chain.#mineLeftovers());
    chain.#planConfirmations();
    return chain;
  }

  /** One JSON-RPC call. Rejects with `RpcError`. */
  request(method: string, params: Params = []): Promise<unknown> {
    const answer = this.#inTurn(async () => {
      const known = this.#methods.get(method);
      if (known !== undefined) return known(params);
      if (READS.test(method)) return this.#state.engine.ask(method, params);
      throw new RpcError(RPC_CODES.unknownMethod, `the method ${method} does not exist or is not available`);
    });
    return answer.finally(() => this.#planConfirmations());
  }

  /** All that has happened and was not undone, to begin another chain with. */
  history(): Promise<readonly Entry[]> {
    return this.#inTurn(async () => [...this.#recorded.entries]);
  }

  /** What is under way is finished first. May be called more than once. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#confirming);
      await this.#turn;
      await this.#recorded.close();
    })();
    return this.#closing;
  }

  get #state() {
    return this.#recorded.state;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) {
      return Promise.reject(new RpcError(RPC_CODES.internal, 'the chain is closed'));
    }
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #methodTable(): ReadonlyMap<string, Method> {
    const table: [string, Method][] = [
      ...SETTERS.map((method): [string, Method] => [method, (params) => this.#set(method, params)]),
      ['eth_sendRawTransaction', ([raw]) => this.#send({ raw: raw as Hex })],
      ['eth_sendTransaction', ([call]) => this.#send({ call: call as Record<string, unknown> })],
      ['hardhat_dropTransaction', ([hash]) => this.#drop(hash as Hex)],
      ['evm_mine', ([time]) => this.#mineBlocks(1, 0, time)],
      [
        'hardhat_mine',
        ([blocks = 1, interval = 0]) => this.#mineBlocks(toNumber(blocks), toNumber(interval)),
      ],
      ['evm_increaseTime', ([seconds]) => this.#increaseTime(toNumber(seconds))],
      ['evm_setNextBlockTimestamp', async ([time]) => this.#setNextTime(toNumber(time))],
      ['evm_setAutomine', async ([on]) => this.#setAutomine(on === true)],
      ['hardhat_getAutomine', async () => this.#automine],
      ['evm_snapshot', async () => `0x${this.#snapshots.push(this.#recorded.entries.length).toString(16)}`],
      ['evm_revert', ([id]) => this.#revert(toNumber(id))],
      ['causeway_reorg', ([depth]) => this.#reorganise(toNumber(depth))],
    ];
    return new Map(table);
  }

  async #set(method: string, params: Params): Promise<unknown> {
    const result = await this.#state.engine.ask(method, params);
    await this.#recorded.record([{ t: 'set', method, params }]);
    return result;
  }

  async #send(sent: SentTransaction): Promise<Hex> {
    const { engine, pool } = this.#state;
    const hash = await sendToEngine(engine, sent);
    const tx = await engine.ask<Record<string, unknown>>('eth_getTransactionByHash', [hash]);
    await this.#refuseBelowBaseFee(hash, tx);
    const entry: Entry = { t: 'tx', ...('raw' in sent ? sent : { call: decidedFields(tx) }) };
    pool.set(hash, entry);
    await this.#recorded.record([entry], async () =>
      this.#automine && (await this.#isExecutable(tx)) ? [await mine(this.#state, this.#blockTime())] : [],
    );
    return hash;
  }

  /** The engine keeps such a transaction in its pool, where it would wait for ever on a chain that mines on demand. */
  async #refuseBelowBaseFee(hash: Hex, tx: Record<string, unknown>): Promise<void> {
    const { engine } = this.#state;
    const next = await engine.ask<{ baseFeePerGas: Hex[] }>('eth_feeHistory', ['0x1', 'latest', []]);
    const baseFee = BigInt(next.baseFeePerGas.at(-1) ?? 0);
    const offered = BigInt((tx.maxFeePerGas ?? tx.gasPrice ?? 0) as Hex);
    if (offered >= baseFee) return;
    await engine.ask('hardhat_dropTransaction', [hash]);
    throw new RpcError(
      RPC_CODES.refused,
      `max fee per gas less than block base fee: maxFeePerGas ${offered}, baseFee ${baseFee}`,
    );
  }

  /** Whether the transaction's turn has come; one that is ahead of its sender's nonce stays in the pool. */
  async #isExecutable({ from, nonce }: Record<string, unknown>): Promise<boolean> {
    const next = await this.#state.engine.ask<Hex>('eth_getTransactionCount', [from, 'pending']);
    return Number(nonce) < Number(next);
  }

  async #drop(hash: Hex): Promise<unknown> {
    const dropped = await this.#set('hardhat_dropTransaction', [hash]);
    this.#state.pool.delete(hash);
    return dropped;
  }

  /** The first block is of now, or of the time that was set; the others follow it at the interval. */
  async #mineBlocks(count: number, intervalSeconds: number, firstTime?: unknown): Promise<null> {
    if (count > MAX_BLOCKS_A_CALL) {
      throw new RpcError(RPC_CODES.invalidParams, `at most ${MAX_BLOCKS_A_CALL} blocks a call`);
    }
    if (firstTime !== undefined) this.#setNextTime(toNumber(firstTime));
    if (count === 0) return null;
    await this.#recorded.record([], async () => {
      const state = this.#state;
      const made: Entry[] = [await mine(state, this.#blockTime())];
      while (made.length < count) made.push(await mine(state, state.head.time + intervalSeconds));
      const ahead = state.head.time - this.#machineSeconds();
      if (ahead <= state.clockOffset) return made;
      // Blocks laid into the future take the chain's clock with them.
      state.clockOffset = ahead;
      return [...made, { t: 'clock', offset: ahead }];
    });
    return null;
  }

  #blockTime(): number {
    const time = this.#nextTime ?? this.#machineSeconds() + this.#state.clockOffset;
    this.#nextTime = undefined;
    return Math.max(time, this.#state.head.time);
  }

  async #increaseTime(seconds: number): Promise<number> {
    const offset = this.#state.clockOffset + seconds;
    await this.#recorded.record([{ t: 'clock', offset }], async () => {
      this.#state.clockOffset = offset;
      await setEngineClock(this.#state, this.#machineSeconds());
      return [];
    });
    return offset;
  }

  #setNextTime(time: number): null {
    const { head } = this.#state;
    if (time < head.time) {
      throw new RpcError(RPC_CODES.refused, `the last block is of ${head.time}, later than ${time}`);
    }
    this.#nextTime = time;
    return null;
  }

  #setAutomine(on: boolean): null {
    this.#automine = on;
    return null;
  }

  async #revert(id: number): Promise<boolean> {
    const length = this.#snapshots[id - 1];
    if (length === undefined || length > this.#recorded.entries.length) return false;
    await this.#recorded.goBackTo(length);
    this.#snapshots.length = id - 1;
    return true;
  }

  /** The last blocks are replaced by as many empty ones of the same times; what was in them is gone, as if never sent. */
  async #reorganise(depth: number): Promise<null> {
    const { entries } = this.#recorded;
    const { head, pool, clockOffset } = this.#state;
    const fork = head.number - depth;
    if (depth < 1 || fork < 0) {
      throw new RpcError(RPC_CODES.invalidParams, `the chain has no ${depth} blocks to replace`);
    }
    const length =
      fork === 0 ? 1 : entries.findIndex((entry) => entry.t === 'block' && entry.number === fork) + 1;
    const replaced = entries.slice(length).filter((entry) => entry.t === 'block');
    await this.#recorded.goBackTo(length, async (state) => {
      const made: Entry[] = [];
      for (const { time } of replaced) {
        made.push(await mine(state, time, `0x${randomBytes(32).toString('hex')}`));
      }
      for (const entry of pool.values()) {
        // One that was built on what is gone cannot stay.
        const hash = await sendToEngine(state.engine, entry).catch(() => undefined);
        if (hash === undefined) continue;
        state.pool.set(hash, entry);
        made.push(entry);
      }
      state.clockOffset = clockOffset;
      await setEngineClock(state, this.#machineSeconds());
      return [...made, { t: 'clock', offset: clockOffset }];
    });
    return null;
  }

  /** A crash may have come between a transaction and its block. */
  async #mineLeftovers(): Promise<void> {
    if (this.#state.pool.size === 0) return;
    const executable = await this.#state.engine.ask<unknown[]>('eth_pendingTransactions');
    if (executable.length > 0) await this.#mineBlocks(1, 0);
  }

  /** Blocks follow each transaction a moment later, several transactions sharing them. */
  #planConfirmations(afterMs = CONFIRM_AFTER_MS): void {
    if (this.#confirming !== undefined || this.#missingConfirmations() === 0) return;
    this.#confirming = setTimeout(() => {
      this.#confirming = undefined;
      this.#inTurn(() => this.#mineBlocks(this.#missingConfirmations(), 0)).catch(() =>
        this.#planConfirmations(CONFIRM_AGAIN_MS),
      );
    }, afterMs);
  }

  #missingConfirmations(): number {
    const { head, busyBlock } = this.#state;
    if (!this.#automine || this.#closing !== undefined) return 0;
    return busyBlock === 0 ? 0 : Math.max(0, busyBlock + this.#confirmations - head.number);
  }
}

/** An impersonated transaction has no signed form: the fields that decide its hash. */
function decidedFields(tx: Record<string, unknown>): Record<string, unknown> {
  const { from, to, value, input, gas, nonce, maxFeePerGas, maxPriorityFeePerGas, gasPrice, accessList } = tx;
  const fees = typeof maxFeePerGas === 'string' ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice };
  const fields = { from, to, value, data: input, gas, nonce, accessList, ...fees };
  return Object.fromEntries(
    Object.entries(fields).filter(([, field]) => field !== undefined && field !== null),
  );
}

function toNumber(value: unknown): number {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new RpcError(RPC_CODES.invalidParams, `not a whole number: ${JSON.stringify(value)}`);
  }
  return number;
}
