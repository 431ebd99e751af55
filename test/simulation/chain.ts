import { encodeFunctionData, erc20Abi, keccak256, parseTransaction, toHex } from 'viem';
import type { Address, ChainSettings, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { balanceKey, type ChainLog, type ChainState, executeCall, Reverted } from './chain-contracts.ts';

export interface ChainTransaction {
  readonly hash: Hex;
  readonly from: Address;
  /** Null for the wallets of others, whose nonces are not modelled. */
  readonly nonce: number | null;
  readonly to: Address;
  readonly data: Hex;
}

export interface Receipt {
  readonly transaction: ChainTransaction;
  readonly succeeded: boolean;
  readonly logs: readonly ChainLog[];
  /** Of its first log in the block. */
  readonly firstLog: number;
}

export interface Block {
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  readonly receipts: readonly Receipt[];
  /** After all of its transactions. */
  readonly state: ChainState;
}

/**
 * A chain in memory: a pool of transactions, blocks with their states, and forks that never reach below the configured
 * depth. It mines when it is told to, in the order it is told.
 */
export class SimulatedChain {
  readonly settings: ChainSettings;
  readonly blocks: Block[] = [];
  readonly pool: ChainTransaction[] = [];
  /** No fork reaches below it, also while the chain is shorter than it was. */
  everFinal = 0;
  readonly #service: Address;
  #made = 0;

  constructor(settings: ChainSettings, service: Address, balances: ReadonlyMap<string, bigint>, at: number) {
    this.settings = settings;
    this.#service = service;
    const state = { balances, safes: new Map(), nonces: new Map() };
    this.blocks.push({ number: 0, hash: this.#newHash('block'), timestamp: at, receipts: [], state });
  }

  get head(): Block {
    return this.blocks.at(-1) as Block;
  }

  /** The newest block that nothing can change any more. */
  get finalNumber(): number {
    return this.head.number - this.settings.confirmations + 1;
  }

  blockAt(number: number): Block | undefined {
    return this.blocks[number];
  }

  receiptOf(hash: Hex): { readonly receipt: Receipt; readonly block: Block } | undefined {
    for (const block of this.blocks.toReversed()) {
      const receipt = block.receipts.find(({ transaction }) => transaction.hash === hash);
      if (receipt !== undefined) return { receipt, block };
    }
    return undefined;
  }

  /** A transaction of the service, as a node takes it. */
  submitRaw(raw: Hex): Hex {
    const { to, data, nonce } = parseTransaction(raw);
    const hash = keccak256(raw);
    const isKnown = this.receiptOf(hash) !== undefined || this.pool.some((known) => known.hash === hash);
    if (isKnown) throw new Error('already known');
    if (nonce !== undefined && nonce < this.nonceOf(this.#service)) throw new Error('nonce too low');
    const from = this.#service;
    this.pool.push({ hash, from, nonce: nonce ?? 0, to: to as Address, data: data ?? '0x' });
    return hash;
  }

  /** Some other account calls something. */
  submit(from: Address, to: Address, data: Hex): void {
    this.pool.push({ hash: this.#newHash('transaction'), from, nonce: null, to, data });
  }

  pay(token: Address, from: Address, to: Address, amount: bigint): void {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
    this.submit(from, token, data);
  }

  nonceOf(account: Address, state: ChainState = this.head.state): number {
    return state.nonces.get(account.toLowerCase()) ?? 0;
  }

  /** Takes what it is given out of the pool; a transaction whose turn has not come stays there. */
  mine(wanted: readonly ChainTransaction[], at: number): Block {
    let { state } = this.head;
    const receipts: Receipt[] = [];
    let logs = 0;
    for (const transaction of wanted) {
      if (transaction.nonce !== null && transaction.nonce !== this.nonceOf(transaction.from, state)) continue;
      this.pool.splice(this.pool.indexOf(transaction), 1);
      const done = this.#carryOut(state, transaction);
      state = done.state;
      receipts.push({ ...done, transaction, firstLog: logs });
      logs += done.logs.length;
    }
    // Another version of a transaction that was mined can never be.
    for (const stale of this.pool.filter(
      ({ nonce, from }) => nonce !== null && nonce < this.nonceOf(from, state),
    )) {
      this.pool.splice(this.pool.indexOf(stale), 1);
    }
    const block: Block = {
      number: this.head.number + 1,
      hash: this.#newHash('block'),
      timestamp: Math.max(at, this.head.timestamp + 1),
      receipts,
      state,
    };
    this.blocks.push(block);
    this.everFinal = Math.max(this.everFinal, this.finalNumber);
    return block;
  }

  /** The last blocks never were; their transactions wait again, those of `dropped` excepted. */
  reorganise(depth: number, isDropped: (transaction: ChainTransaction) => boolean): number {
    const lost = this.blocks.splice(this.blocks.length - depth, depth);
    const again = lost.flatMap(({ receipts }) => receipts.map(({ transaction }) => transaction));
    this.pool.unshift(...again.filter((transaction) => !isDropped(transaction)));
    return again.length;
  }

  #carryOut(state: ChainState, { from, nonce, to, data }: ChainTransaction) {
    const nonces = nonce === null ? state.nonces : new Map(state.nonces).set(from.toLowerCase(), nonce + 1);
    const before = { ...state, nonces };
    try {
      const done = executeCall(this.settings, before, from, { to, data });
      return { state: done.state, logs: done.logs, succeeded: true };
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      return { state: before, logs: [], succeeded: false };
    }
  }

  #newHash(what: string): Hex {
    this.#made += 1;
    return keccak256(toHex(`${what} ${this.#made}`));
  }
}

export function initialBalances(token: Address, holders: readonly Address[], amount: bigint) {
  return new Map(holders.map((holder) => [balanceKey(token, holder), amount]));
}
