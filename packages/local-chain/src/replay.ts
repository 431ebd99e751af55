import { createEngine, type EvmEngine, type Hex } from './evm-engine.ts';
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

const PROGRESS_EVERY_BLOCKS = 100;

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
  for (const entry of rest) {
    await play(state, entry);
    if (entry.t === 'block' && entry.number % PROGRESS_EVERY_BLOCKS === 0) {
      options.onProgress?.(entry.number, total);
    }
  }
  await setEngineClock(state, options.machineSeconds());
  return state;
}

async function play(state: ChainState, entry: Entry): Promise<void> {
  const { engine } = state;
  switch (entry.t) {
    case 'genesis':
      throw new Error('The journal begins twice.');
    case 'set':
      await engine.ask(entry.method, entry.params);
      return;
    case 'tx':
      state.pool.set(await sendToEngine(engine, entry), entry);
      return;
    case 'clock':
      state.clockOffset = entry.offset;
      return;
    case 'block': {
      const mined = await mine(state, entry.time, entry.randao);
      if (mined.hash !== entry.hash) {
        throw new Error(`Block ${entry.number} came out as ${mined.hash}; the journal has ${entry.hash}.`);
      }
    }
  }
}

export function sendToEngine(engine: EvmEngine, sent: SentTransaction): Promise<Hex> {
  return 'raw' in sent
    ? engine.ask('eth_sendRawTransaction', [sent.raw])
    : engine.ask('eth_sendTransaction', [sent.call]);
}

/** Puts whatever is executable in a block. */
export async function mine(
  state: ChainState,
  time: number,
  randao?: Hex,
): Promise<Extract<Entry, { t: 'block' }>> {
  const { engine, pool } = state;
  if (randao !== undefined) await engine.ask('hardhat_setPrevRandao', [randao]);
  await engine.ask('evm_setNextBlockTimestamp', [time]);
  await engine.ask('evm_mine');
  const block = await engine.ask<Block>('eth_getBlockByNumber', ['latest', false]);
  const number = Number(block.number);
  state.head = { number, time };
  if (block.transactions.length > 0) state.busyBlock = number;
  for (const hash of block.transactions) pool.delete(hash);
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
