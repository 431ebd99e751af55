/**
 * Questions whose answer is a fact of the chain and not of a moment: all nodes must give the same one. What a transaction
 * did, what happened in named blocks, what stood in a named block. Money moves on nothing else.
 */
export interface ChainQuestion {
  readonly about: string;
  /** The last block the answer depends on; a node that does not have it answers as if nothing had happened. */
  readonly needsBlock?: string;
  /** What is compared, or undefined where the node does not know. */
  factIn(answer: unknown): Fact | undefined;
}

export interface Fact {
  /** Where it stands: nodes on different forks differ here, and will agree again. */
  readonly place: string;
  /** What it says: two nodes that differ here about the same place cannot both be telling the truth. */
  readonly content: string;
}

type Fields = Readonly<Record<string, unknown>>;

const LOG_FIELDS = ['address', 'topics', 'data', 'transactionHash', 'logIndex', 'blockNumber', 'blockHash'];
const BLOCK_FIELDS = ['number', 'timestamp', 'parentHash', 'transactions'];
const RECEIPT_FIELDS = ['transactionHash', 'status', 'blockNumber'];

/** Undefined where every node may have an answer of its own: the newest block, the pool, an estimate. */
export function questionOf(method: string, params: unknown): ChainQuestion | undefined {
  const [first, second] = Array.isArray(params) ? (params as unknown[]) : [];
  switch (method) {
    case 'eth_getTransactionReceipt':
      return { about: 'a receipt', factIn: receiptFact };
    case 'eth_getBlockByNumber':
      return isNumber(first) ? { about: `block ${Number(first)}`, factIn: blockFact } : undefined;
    case 'eth_getLogs': {
      const { fromBlock, toBlock } = fieldsOf(first) ?? {};
      if (!isNumber(fromBlock) || !isNumber(toBlock)) return undefined;
      const about = `the logs of blocks ${Number(fromBlock)} to ${Number(toBlock)}`;
      return { about, needsBlock: toBlock, factIn: logsFact };
    }
    case 'eth_call':
    case 'eth_getTransactionCount':
      if (!isNumber(second)) return undefined;
      return { about: `the state in block ${Number(second)}`, needsBlock: second, factIn: valueFact };
    default:
      return undefined;
  }
}

function receiptFact(answer: unknown): Fact | undefined {
  const receipt = fieldsOf(answer);
  if (receipt === undefined) return undefined;
  const content = [picked(receipt, RECEIPT_FIELDS), logsText(receipt.logs)].join(' ');
  return { place: textOf(receipt.blockHash), content };
}

function blockFact(answer: unknown): Fact | undefined {
  const block = fieldsOf(answer);
  return block && { place: textOf(block.hash), content: picked(block, BLOCK_FIELDS) };
}

function logsFact(answer: unknown): Fact | undefined {
  return Array.isArray(answer) ? { place: '', content: logsText(answer) } : undefined;
}

function valueFact(answer: unknown): Fact | undefined {
  return typeof answer === 'string' ? { place: '', content: textOf(answer) } : undefined;
}

/** Nodes may list logs in any order. */
function logsText(logs: unknown): string {
  if (!Array.isArray(logs)) return '';
  return logs
    .map((log) => picked(fieldsOf(log) ?? {}, LOG_FIELDS))
    .sort()
    .join(' ');
}

function picked(fields: Fields, names: readonly string[]): string {
  return names.map((name) => textOf(fields[name])).join('|');
}

/** Nodes spell addresses and hashes in upper or lower case. */
function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? '').toLowerCase();
}

function isNumber(block: unknown): block is string {
  return typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block);
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
