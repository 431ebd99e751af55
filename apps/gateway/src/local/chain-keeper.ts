import { callRpc, callRpcForNumber, toQuantity } from './chain-rpc.ts';
import { type ChainStateFiles, saveChainState } from './chain-state-file.ts';

export interface ChainKeeper {
  /** Saves the state now, whether or not a block was mined. */
  save(): Promise<void>;
  /** Ends the watch and saves a last time. */
  stop(): Promise<void>;
}

export interface ChainKeeperOptions {
  readonly rpcUrl: string;
  readonly files: ChainStateFiles;
  readonly confirmations: number;
  readonly pollMs?: number;
  /** Asked before each look and save: on the port of a dead node a stranger might answer. */
  readonly isAlive: () => boolean;
  /** The first failure of a row; the looks go on. */
  readonly onTrouble: (error: Error) => void;
}

const POLL_MS = 250;
/** A save reads the whole chain, so on a long one it may take at most about a fifth of the time. */
const REST_PER_SAVE = 4;

/**
 * Watches a chain that mines only when it gets a transaction: adds the empty blocks that bring each transaction to its
 * confirmations, and saves the state after every change, so that a kill -9 of everything loses a moment at most.
 */
export function keepChain(options: ChainKeeperOptions): ChainKeeper {
  const { rpcUrl, files, confirmations, pollMs = POLL_MS, isAlive, onTrouble } = options;
  let savedHead = -1;
  let nextSaveAt = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();

  // One at a time: two saves that overlap could put the older state last.
  const save = (head?: number): Promise<void> => {
    const run = async () => {
      if (!isAlive()) throw new Error('The node has ended.');
      const startedAt = performance.now();
      await saveChainState(rpcUrl, files);
      if (head !== undefined) savedHead = head;
      const finishedAt = performance.now();
      nextSaveAt = finishedAt + REST_PER_SAVE * (finishedAt - startedAt);
    };
    const result = saving.then(run);
    saving = result.catch(() => undefined);
    return result;
  };

  const look = async (): Promise<void> => {
    if (!isAlive()) return;
    const head = await callRpcForNumber(rpcUrl, 'eth_blockNumber');
    if (head === savedHead) return;
    const missing = await missingConfirmations(rpcUrl, head, confirmations);
    if (missing > 0) await callRpc(rpcUrl, 'anvil_mine', [toQuantity(missing)]);
    if (performance.now() >= nextSaveAt) await save(head + missing);
  };

  let looking: Promise<void> = Promise.resolve();
  let troubled = false;
  const lookAndPlanNext = (): void => {
    looking = look()
      .then(
        () => {
          troubled = false;
        },
        (error: Error) => {
          if (!stopped && !troubled && isAlive()) onTrouble(error);
          troubled = true;
        },
      )
      .finally(() => {
        if (!stopped) timer = setTimeout(lookAndPlanNext, pollMs);
      });
  };
  lookAndPlanNext();

  return {
    save: () => save(),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
      await save();
    },
  };
}

/**
 * How many blocks the newest transaction still needs above it. Only the top of the chain is looked at: anything
 * deeper is confirmed. Blocks added for confirmations are empty, so they never call for more.
 */
async function missingConfirmations(rpcUrl: string, head: number, confirmations: number): Promise<number> {
  for (let depth = 0; depth < confirmations && depth < head; depth += 1) {
    const block = toQuantity(head - depth);
    const transactions = await callRpcForNumber(rpcUrl, 'eth_getBlockTransactionCountByNumber', [block]);
    if (transactions > 0) return confirmations - depth;
  }
  return 0;
}
