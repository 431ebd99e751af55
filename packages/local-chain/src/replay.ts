import { type Call, createEngine, type EvmEngine, type Hex } from './evm-engine.ts';
import { type Entry, JOURNAL_VERSION, type SentTransaction } from './journal.ts';

/** A chain as far as its entries go. */
export interface ChainState {
  readonly engine: EvmEngine;
  head: { number: number; time: number };
  /** The newest block with a transaction in it. */
  busyBlock: number;
  /** Seconds that the chain's clock is ahead of the machine's. */
  clockOffset: number;
  /** Sent and not in a block yet. */
  readonly pool: Map<Hex, PooledTransaction>;
}

export interface ReplayOptions {
  readonly machineSeconds: () => number;
  readonly onProgress?: ((blocks: number, total: number) => void) | undefined;
}

type PooledTransaction = Extract<Entry, { t: 'tx' }>;

interface Block {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly mixHash: Hex;
  readonly transactions: readonly Hex[];
}

/** So many are played without coming back: the engine then works beside a program that is still being read. */
const BLOCKS_A_BATCH = 100;

/** Plays the entries into a fresh engine; every block must come out with the hash it had. */
export async function replay(entries: readonly Entry[], options: ReplayOptions): Promise<ChainState> {
  const [genesis, ...rest] = entries;
  if (genesis?.t !== 'genesis' || genesis.version !== JOURNAL_VERSION) {
    throw new Error('The journal was written by another version of this program.');
  }
  const state: ChainState = {
    engine: await createEngine(genesis),
    head: { number: 0, time: genesis.time },
    busyBlock: 0,
    clockOffset: 0,
    pool: new Map(),
  };
  const total = rest.reduce((count, { t }) => count + (t === 'block' ? 1 : 0), 0);
  for (const batch of batchesOf(rest)) {
    await play(state, batch);
    if (batch.some(({ t }) => t === 'block')) options.onProgress?.(state.head.number, total);
  }
  await setEngineClock(state, options.machineSeconds());
  return state;
}

function batchesOf(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [[]];
  let blocks = 0;
  for (const entry of entries) {
    batches.at(-1)?.push(entry);
    if (entry.t === 'block' && ++blocks % BLOCKS_A_BATCH === 0) batches.push([]);
  }
  return batches.filter((batch) => batch.length > 0);
}

async function play(state: ChainState, entries: readonly Entry[]): Promise<void> {
  const steps = entries.map((entry) => stepOf(state, entry));
  const answers = await state.engine.askAll(steps.flatMap(({ calls }) => calls));
  let answered = 0;
  for (const { calls, note } of steps) {
    answered += calls.length;
    note?.(answers[answered - 1]);
  }
}

interface Step {
  readonly calls: readonly Call[];
  /** Takes the answer to the last of them. */
  readonly note?: (answer: unknown) => void;
}

function stepOf(state: ChainState, entry: Entry): Step {
  switch (entry.t) {
    case 'genesis':
      throw new Error('The journal begins twice.');
    case 'set':
      return { calls: [entry] };
    case 'tx':
      return { calls: [sending(entry)], note: (hash) => state.pool.set(hash as Hex, entry) };
    case 'clock':
      state.clockOffset = entry.offset;
      return { calls: [] };
    case 'block':
      return {
        calls: mining(entry.time, entry.randao),
        note(block) {
          const mined = noteBlock(state, block as Block, entry.time);
          if (mined.hash === entry.hash) return;
          throw new Error(`Block ${entry.number} came out as ${mined.hash}; the journal has ${entry.hash}.`);
        },
      };
  }
}

export function sendToEngine(engine: EvmEngine, sent: SentTransaction): Promise<Hex> {
  const { method, params } = sending(sent);
  return engine.ask(method, params);
}

function sending(sent: SentTransaction): Call {
  return 'raw' in sent
    ? { method: 'eth_sendRawTransaction', params: [sent.raw] }
    : { method: 'eth_sendTransaction', params: [sent.call] };
}

/** Puts whatever is executable in a block. */
export async function mine(
  state: ChainState,
  time: number,
  randao?: Hex,
): Promise<Extract<Entry, { t: 'block' }>> {
  const answers = await state.engine.askAll(mining(time, randao));
  return noteBlock(state, answers.at(-1) as Block, time);
}

function mining(time: number, randao?: Hex): Call[] {
  return [
    ...(randao === undefined ? [] : [{ method: 'hardhat_setPrevRandao', params: [randao] }]),
    { method: 'evm_setNextBlockTimestamp', params: [time] },
    { method: 'evm_mine' },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ];
}

function noteBlock(state: ChainState, block: Block, time: number): Extract<Entry, { t: 'block' }> {
  const number = Number(block.number);
  state.head = { number, time };
  if (block.transactions.length > 0) state.busyBlock = number;
  for (const hash of block.transactions) state.pool.delete(hash);
  return { t: 'block', number, hash: block.hash, time, randao: block.mixHash };
}

/**
 * After a block in the past the engine's clock goes on from there, and calls on the pending block read it. The engine counts
 * from the system's clock, whatever this chain was told to take for the machine's.
 */
export async function setEngineClock(state: ChainState, machineSeconds: number): Promise<void> {
  const now = Math.max(machineSeconds + state.clockOffset, state.head.time);
  const wanted = now - Math.floor(Date.now() / 1_000);
  const current = Number(await state.engine.ask('evm_increaseTime', [0]));
  if (wanted > current) await state.engine.ask('evm_increaseTime', [wanted - current]);
}
