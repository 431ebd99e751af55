import { safe } from '@causeway/contracts';
import {
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  type Hex,
  numberToHex,
  pad,
} from 'viem';
import type { Address } from '../../apps/gateway/src/chain/chain-settings.ts';
import { type ChainClient, viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import type { Block, Receipt, SimulatedChain } from './chain.ts';
import { balanceOf, type ChainState, executeCall, Reverted, safeAt } from './chain-contracts.ts';

/** How a question gets to the node and its answer back; what is lost on the way is the caller's to learn. */
export type Carry = <T>(question: string, ask: () => T) => Promise<T>;

/** The client of one process: the library's own, with the chain in memory behind it. */
export function simulatedClient(chain: SimulatedChain, carry: Carry): ChainClient {
  const { slug, chainId } = chain.settings;
  return createPublicClient({
    chain: viemChain(slug, chainId),
    transport: custom(
      {
        request: ({ method, params }: { method: string; params?: unknown }) =>
          carry(method, () => answer(chain, method, (params ?? []) as never[])),
      },
      { retryCount: 0 },
    ),
    cacheTime: 0,
  }).extend(() => ({
    agreedBlockHash: (blockNumber: bigint) =>
      carry('agreed hash', () => blockNamed(chain, numberToHex(blockNumber)).hash),
    askInPassing: (method: string, params: unknown) =>
      carry(method, () => answer(chain, method, params as never[])),
  })) as unknown as ChainClient;
}

interface LogFilter {
  readonly address?: Address | readonly Address[];
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
}

interface CallObject {
  readonly from?: Address;
  readonly to: Address;
  readonly data: Hex;
}

// biome-ignore lint/suspicious/noExplicitAny: the parameters of JSON-RPC are what each method says
function answer(chain: SimulatedChain, method: string, params: any[]): unknown {
  switch (method) {
    case 'eth_chainId':
      return numberToHex(chain.settings.chainId);
    case 'eth_blockNumber':
      return numberToHex(chain.head.number);
    case 'eth_maxPriorityFeePerGas':
      return '0x3b9aca00';
    case 'eth_getBlockByNumber':
      return blockAnswer(blockNamed(chain, params[0]));
    case 'eth_getTransactionReceipt':
      return receiptAnswer(chain, params[0]);
    case 'eth_getTransactionCount':
      return numberToHex(countOf(chain, params[0], params[1]));
    case 'eth_getLogs':
      return logsAnswer(chain, params[0]);
    case 'eth_sendRawTransaction':
      return chain.submitRaw(params[0]);
    case 'eth_estimateGas':
      return estimate(chain, params[0]);
    case 'eth_call':
      return callAnswer(blockNamed(chain, params[1]).state, params[0]);
    case 'eth_getStorageAt':
      return pad(chain.settings.contracts.safeSingleton, { size: 32 });
    case 'eth_getCode':
      return safeAt(chain.head.state, params[0]) === undefined ? '0x' : '0x01';
    default:
      throw new Error(`the simulated node does not answer ${method}`);
  }
}

function blockNamed(chain: SimulatedChain, name: string | undefined): Block {
  if (name === undefined || name === 'latest' || name === 'pending') return chain.head;
  const block = chain.blockAt(Number(BigInt(name)));
  if (block === undefined) throw new Error('the node does not have the block');
  return block;
}

function countOf(chain: SimulatedChain, account: Address, at: string): number {
  const mined = chain.nonceOf(account, blockNamed(chain, at).state);
  if (at !== 'pending') return mined;
  const waiting = new Set(chain.pool.filter(({ from }) => from === account).map(({ nonce }) => nonce));
  let next = mined;
  while (waiting.has(next)) next += 1;
  return next;
}

function estimate(chain: SimulatedChain, call: CallObject): Hex {
  try {
    executeCall(chain.settings, chain.head.state, call.from ?? chain.settings.treasury, call);
    return numberToHex(200_000);
  } catch (error) {
    if (!(error instanceof Reverted)) throw error;
    throw Object.assign(new Error(`execution reverted: ${error.message}`), { code: 3 });
  }
}

function callAnswer(state: ChainState, { to, data }: CallObject): Hex {
  const known = safeAt(state, to);
  if (known !== undefined) {
    const { functionName } = decodeFunctionData({ abi: safe.abi, data });
    if (functionName === 'nonce')
      return encodeFunctionResult({ abi: safe.abi, functionName, result: known.nonce });
    if (functionName === 'getThreshold')
      return encodeFunctionResult({ abi: safe.abi, functionName, result: 2n });
    if (functionName === 'getOwners') {
      return encodeFunctionResult({ abi: safe.abi, functionName, result: known.owners });
    }
  }
  if (!data.startsWith('0x70a08231')) return '0x';
  const { args } = decodeFunctionData({ abi: erc20Abi, data });
  const result = balanceOf(state, to, String(args?.[0]));
  return encodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', result });
}

function blockAnswer({ number, hash, timestamp, receipts }: Block) {
  return {
    number: numberToHex(number),
    hash,
    timestamp: numberToHex(Math.floor(timestamp / 1_000)),
    baseFeePerGas: '0x3b9aca00',
    transactions: receipts.map(({ transaction }) => transaction.hash),
  };
}

function receiptAnswer(chain: SimulatedChain, hash: Hex) {
  const found = chain.receiptOf(hash);
  if (found === undefined) return null;
  const { block, receipt } = found;
  const { transaction, succeeded } = receipt;
  return {
    transactionHash: hash,
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    from: transaction.from,
    to: transaction.to,
    status: succeeded ? '0x1' : '0x0',
    logs: logsOf(block, receipt),
    gasUsed: '0x1',
    cumulativeGasUsed: '0x1',
    effectiveGasPrice: '0x1',
    transactionIndex: '0x0',
    type: '0x2',
  };
}

function logsOf(block: Block, { transaction, logs, firstLog }: Receipt) {
  return logs.map((log, index) => ({
    ...log,
    blockNumber: numberToHex(block.number),
    blockHash: block.hash,
    transactionHash: transaction.hash,
    transactionIndex: '0x0',
    logIndex: numberToHex(firstLog + index),
    removed: false,
  }));
}

function logsAnswer(chain: SimulatedChain, { address, topics = [], fromBlock, toBlock }: LogFilter) {
  const addresses = address && [address].flat().map((one) => one.toLowerCase());
  const range = chain.blocks.slice(Number(BigInt(fromBlock)), Number(BigInt(toBlock)) + 1);
  return range
    .flatMap((block) => block.receipts.flatMap((receipt) => logsOf(block, receipt)))
    .filter((log) => addresses === undefined || addresses.includes(log.address.toLowerCase()))
    .filter((log) =>
      topics.every((topic, index) => topic === null || [topic].flat().includes(log.topics[index] as Hex)),
    );
}
