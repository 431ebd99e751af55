import { causewayRouter, erc2771Forwarder, safe } from '@causeway/contracts';
import {
  encodeEventTopics,
  erc20Abi,
  formatLog,
  getAbiItem,
  getAddress,
  isAddressEqual,
  type Log,
  numberToHex,
  parseEventLogs,
  toEventSelector,
} from 'viem';
import { inSlices } from '../../lib/pacing.ts';
import type { Address, ChainSettings, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import type {
  BridgeDeposit,
  Deposit,
  EscrowExecution,
  EscrowWatch,
  ForwardExecution,
} from './chain-facts.ts';
import { type BlockRange, type LogQuestion, type LogReader, logReader } from './log-reader.ts';

/** A transfer into an escrow; what it means depends on what was paid before. */
export type UnclassifiedDeposit = Omit<Deposit, 'kind' | 'depositId'>;
export type LogFact = UnclassifiedDeposit | EscrowExecution | ForwardExecution | BridgeDeposit;

export const transferEvent = getAbiItem({ abi: erc20Abi, name: 'Transfer' });
const executionSuccess = getAbiItem({ abi: safe.abi, name: 'ExecutionSuccess' });
const bridgeDeposited = getAbiItem({ abi: causewayRouter.abi, name: 'BridgeDeposited' });
const forwardExecuted = getAbiItem({ abi: erc2771Forwarder.abi, name: 'ExecutedForwardRequest' });

interface PlacedLog {
  readonly transactionHash: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

export interface TransferLog extends PlacedLog {
  readonly address: Address;
  readonly args: { readonly from: Address; readonly to: Address; readonly value: bigint };
}

type ReadSettings = Pick<ChainSettings, 'chainId' | 'contracts' | 'tokens'>;

export interface FactReader {
  /** What was paid into these escrows in the chain's tokens, and what their Safes executed. */
  escrowFacts(watches: readonly EscrowWatch[], range: BlockRange): Promise<LogFact[]>;
  /** What these wallets' forward requests did, and what our router paid to bridges, whichever account submitted it. */
  contractFacts(signers: readonly Address[], range: BlockRange): Promise<LogFact[]>;
}

/**
 * The questions that the watcher asks. Each names our own contracts or the chain's configured tokens, so that what third parties
 * log, however much of it, is never read: a contract of one's own can log any event about any address for next to nothing.
 */
export function factReader(client: ChainClient, settings: ReadSettings, maxRangeBlocks: number): FactReader {
  const { chainId, contracts } = settings;
  const tokens = settings.tokens.map(({ address }) => address);
  const reader = (): LogReader => logReader(client, maxRangeBlocks);
  const [readTransfers, readExecutions, readForwards, readBridge] = [reader(), reader(), reader(), reader()];
  return {
    async escrowFacts(watches, range) {
      const byAddress = watchesByAddress(watches);
      const escrows = watches.map(({ address }) => address);
      const [paid, executed] = await Promise.all([
        readTransfers(transfersTo(client, tokens, escrows), range),
        readExecutions(executionsOf(client, escrows), range),
      ]);
      return [
        ...depositsIn(chainId, byAddress, paid),
        ...withoutRepeats(executed).flatMap((log): EscrowExecution[] => {
          const watch = byAddress.get(log.address.toLowerCase());
          if (watch === undefined) return [];
          const { address: escrow, orderId, partnerId } = watch;
          const safeTxHash = log.args.txHash;
          return [
            { type: 'escrow_executed', ...placeOf(chainId, log), escrow, orderId, partnerId, safeTxHash },
          ];
        }),
      ];
    },

    async contractFacts(signers, range) {
      const [executed, deposited] = await Promise.all([
        readForwards(forwardsOf(client, contracts.forwarder, signers), range),
        readBridge(bridgeDepositsBy(client, contracts.router, tokens), range),
      ]);
      return [
        ...withoutRepeats(executed).map((log): ForwardExecution => {
          const { signer, nonce, success } = log.args;
          return { type: 'forward_executed', ...placeOf(chainId, log), signer, nonce, succeeded: success };
        }),
        ...withoutRepeats(deposited).map((log): BridgeDeposit => {
          const { bridgeQuoteId, token, from, to, amount } = log.args;
          const place = placeOf(chainId, log);
          return {
            type: 'bridge_deposited',
            ...place,
            bridgeQuoteId,
            token,
            sender: from,
            solver: to,
            amount,
          };
        }),
      ];
    },
  };
}

function transfersTo(
  client: ChainClient,
  tokens: readonly Address[],
  escrows: readonly Address[],
): LogQuestion<TransferLog> {
  return {
    subjects: escrows,
    ask: async (some, { fromBlock, toBlock }) => {
      const filter = {
        address: [...tokens],
        topics: encodeEventTopics({ abi: [transferEvent], args: { to: [...some] } }),
        fromBlock: numberToHex(fromBlock),
        toBlock: numberToHex(toBlock),
      };
      const logs = await client.request({ method: 'eth_getLogs', params: [filter] });
      return inSlices(logs, (log) => transferIn(formatLog(log)));
    },
    pick: (logs, some) => {
      const [wanted, ours] = [lowerCased(some), lowerCased(tokens)];
      return inSlices(logs, (log) =>
        ours.has(log.address.toLowerCase())
          ? transferIn(log).filter(({ args }) => wanted.has(args.to.toLowerCase()))
          : [],
      );
    },
  };
}

function executionsOf(client: ChainClient, escrows: readonly Address[]) {
  return {
    subjects: escrows,
    ask: (some: readonly Hex[], range: BlockRange) =>
      client.getLogs({ address: [...some], event: executionSuccess, strict: true, ...range }),
    pick: (logs: readonly Log[], some: readonly Hex[]) =>
      parseEventLogs({ abi: [executionSuccess], logs: [...logs], strict: true })
        .filter(({ address }) => some.some((escrow) => isAddressEqual(escrow, address)))
        .map(placed),
  };
}

function forwardsOf(client: ChainClient, forwarder: Address, signers: readonly Address[]) {
  return {
    subjects: signers,
    ask: (some: readonly Hex[], range: BlockRange) =>
      client.getLogs({
        address: forwarder,
        event: forwardExecuted,
        args: { signer: [...some] },
        strict: true,
        ...range,
      }),
    pick: (logs: readonly Log[], some: readonly Hex[]) =>
      parseEventLogs({ abi: [forwardExecuted], logs: [...logs], args: { signer: [...some] }, strict: true })
        .filter(({ address }) => isAddressEqual(address, forwarder))
        .map(placed),
  };
}

function bridgeDepositsBy(client: ChainClient, router: Address, tokens: readonly Address[]) {
  return {
    subjects: tokens,
    ask: (some: readonly Hex[], range: BlockRange) =>
      client.getLogs({
        address: router,
        event: bridgeDeposited,
        args: { token: [...some] },
        strict: true,
        ...range,
      }),
    pick: (logs: readonly Log[], some: readonly Hex[]) =>
      parseEventLogs({ abi: [bridgeDeposited], logs: [...logs], args: { token: [...some] }, strict: true })
        .filter(({ address }) => isAddressEqual(address, router))
        .map(placed),
  };
}

const TRANSFER_SELECTOR = toEventSelector(transferEvent);
const WORD_LENGTH = 66;

/**
 * The transfer that a log tells of; none where it only looks alike, as a transfer of a collectible does. By hand, because
 * the library's decoder takes twenty times as long, and the number of logs is not ours to limit.
 */
export function transferIn(log: Log): TransferLog[] {
  const [selector, from, to, ...more] = log.topics as readonly Hex[];
  const isTransfer = selector === TRANSFER_SELECTOR && from !== undefined && to !== undefined;
  if (!isTransfer || more.length > 0 || log.data.length !== WORD_LENGTH) return [];
  const args = { from: addressIn(from), to: addressIn(to), value: BigInt(log.data) };
  const { address, transactionHash, logIndex, blockNumber, blockHash } = placed(log);
  return [{ address, args, transactionHash, logIndex, blockNumber, blockHash }];
}

function addressIn(topic: Hex): Address {
  return getAddress(`0x${topic.slice(-40)}`);
}

function lowerCased(addresses: readonly Address[]): ReadonlySet<string> {
  return new Set(addresses.map((address) => address.toLowerCase()));
}

export function inChainOrder(left: LogFact, right: LogFact): number {
  if (left.blockNumber !== right.blockNumber) return left.blockNumber < right.blockNumber ? -1 : 1;
  return left.logIndex - right.logIndex;
}

export function watchesByAddress(watches: readonly EscrowWatch[]): ReadonlyMap<string, EscrowWatch> {
  return new Map(watches.map((watch) => [watch.address.toLowerCase(), watch]));
}

/** A transfer of nothing is none: anyone can log one for any address, at the price of the gas. */
export function depositsIn(
  chainId: number,
  byAddress: ReadonlyMap<string, EscrowWatch>,
  transfers: readonly TransferLog[],
): UnclassifiedDeposit[] {
  return withoutRepeats(transfers).flatMap((log): UnclassifiedDeposit[] => {
    const { from, to, value } = log.args;
    const watch = byAddress.get(to.toLowerCase());
    if (watch === undefined || value === 0n) return [];
    return [
      {
        type: 'deposit',
        ...placeOf(chainId, log),
        escrow: watch.address,
        orderId: watch.orderId,
        partnerId: watch.partnerId,
        // Nodes write addresses in lower case; records have one spelling.
        token: getAddress(log.address),
        sender: from,
        amount: value,
      },
    ];
  });
}

/** A log is one, however often a node tells of it. */
function withoutRepeats<L extends PlacedLog>(logs: readonly L[]): L[] {
  return [...new Map(logs.map((log) => [`${log.transactionHash}:${log.logIndex}`, log])).values()];
}

/** What comes out of a receipt has its place: pending logs, which have none, are in no receipt. */
function placed<L extends { [Field in keyof PlacedLog]: PlacedLog[Field] | null }>(log: L): L & PlacedLog {
  return log as L & PlacedLog;
}

function placeOf(chainId: number, { transactionHash, logIndex, blockNumber, blockHash }: PlacedLog) {
  return { chainId, txHash: transactionHash, logIndex, blockNumber, blockHash };
}
