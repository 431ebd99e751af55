import { causewayRouter, erc2771Forwarder, safe } from '@causeway/contracts';
import { erc20Abi, getAbiItem, getAddress } from 'viem';
import type { ChainClient } from './chain-client.ts';
import type {
  BridgeDeposit,
  Deposit,
  EscrowExecution,
  EscrowWatch,
  ForwardExecution,
} from './chain-facts.ts';
import type { Address, ChainSettings, Hex } from './chain-settings.ts';

/** A transfer into an escrow; what it means depends on what was paid before. */
export type UnclassifiedDeposit = Omit<Deposit, 'kind'>;
export type LogFact = UnclassifiedDeposit | EscrowExecution | ForwardExecution | BridgeDeposit;

export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

// Nodes limit how many addresses one question may name.
const ADDRESSES_A_QUERY = 400;

const transferEvent = getAbiItem({ abi: erc20Abi, name: 'Transfer' });
const executionSuccess = getAbiItem({ abi: safe.abi, name: 'ExecutionSuccess' });
const bridgeDeposited = getAbiItem({ abi: causewayRouter.abi, name: 'BridgeDeposited' });
const forwardExecuted = getAbiItem({ abi: erc2771Forwarder.abi, name: 'ExecutedForwardRequest' });

interface PlacedLog {
  readonly transactionHash: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/**
 * Transfers of any token into watched addresses, wrong tokens included, and executions of their Safes.
 */
export async function readEscrowLogs(
  client: ChainClient,
  chainId: number,
  watches: readonly EscrowWatch[],
  range: BlockRange,
): Promise<LogFact[]> {
  const facts: LogFact[] = [];
  for (let start = 0; start < watches.length; start += ADDRESSES_A_QUERY) {
    const some = watches.slice(start, start + ADDRESSES_A_QUERY);
    const byAddress = new Map(some.map((watch) => [watch.address.toLowerCase(), watch]));
    const addresses = some.map(({ address }) => address);
    const [transfers, executions] = await Promise.all([
      // Strict leaves out what only looks alike, such as transfers of collectibles.
      client.getLogs({ event: transferEvent, args: { to: addresses }, strict: true, ...range }),
      client.getLogs({ address: addresses, event: executionSuccess, strict: true, ...range }),
    ]);
    for (const log of transfers) {
      const watch = byAddress.get(log.args.to.toLowerCase());
      if (watch !== undefined) facts.push(depositOf(chainId, watch, log.address, log.args, log));
    }
    for (const log of executions) {
      const watch = byAddress.get(log.address.toLowerCase());
      if (watch === undefined) continue;
      facts.push({
        type: 'escrow_executed',
        ...placeOf(chainId, log),
        escrow: watch.address,
        orderId: watch.orderId,
        safeTxHash: log.args.txHash,
      });
    }
  }
  return facts;
}

/** What went through our forwarder and router, whoever submitted it. */
export async function readContractLogs(
  client: ChainClient,
  { chainId, contracts }: Pick<ChainSettings, 'chainId' | 'contracts'>,
  range: BlockRange,
): Promise<LogFact[]> {
  const logs = await client.getLogs({
    address: [contracts.forwarder, contracts.router],
    events: [forwardExecuted, bridgeDeposited],
    strict: true,
    ...range,
  });
  return logs.map((log): LogFact => {
    const place = placeOf(chainId, log);
    if (log.eventName === 'ExecutedForwardRequest') {
      const { signer, nonce, success } = log.args;
      return { type: 'forward_executed', ...place, signer, nonce, succeeded: success };
    }
    const { bridgeQuoteId, token, from, to, amount } = log.args;
    return { type: 'bridge_deposited', ...place, bridgeQuoteId, token, sender: from, solver: to, amount };
  });
}

export function inChainOrder(left: LogFact, right: LogFact): number {
  if (left.blockNumber !== right.blockNumber) return left.blockNumber < right.blockNumber ? -1 : 1;
  return left.logIndex - right.logIndex;
}

function depositOf(
  chainId: number,
  watch: EscrowWatch,
  token: Address,
  { from, value }: { from: Address; value: bigint },
  log: PlacedLog,
): UnclassifiedDeposit {
  return {
    type: 'deposit',
    ...placeOf(chainId, log),
    escrow: watch.address,
    orderId: watch.orderId,
    partnerId: watch.partnerId,
    // Nodes write addresses in lower case; records have one spelling.
    token: getAddress(token),
    sender: from,
    amount: value,
  };
}

function placeOf(chainId: number, { transactionHash, logIndex, blockNumber, blockHash }: PlacedLog) {
  return { chainId, txHash: transactionHash, logIndex, blockNumber, blockHash };
}
