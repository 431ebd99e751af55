import { BaseError } from 'viem';
import { machineNow } from '../../lib/clock.ts';
import type { Hex } from '../chain-settings.ts';
import { type ChainQuestion, type Fact, questionOf } from './node-facts.ts';
import { type CallLimits, NodeUnavailableError, type RpcNode } from './rpc-node.ts';

/**
 * Several nodes of one chain as one. Questions of the moment go to the first that is well: it answered lately, serves the
 * right chain and is not behind the others. Facts on which money moves are asked of all of them, because a node that
 * lies, or follows a fork, is found out only by being compared: they count when enough nodes say the same and none
 * says otherwise.
 */
export interface NodeGroup {
  call(method: string, params: unknown): Promise<unknown>;
  /** The hash of a block that every node that knows it agrees on; throws `ChainDisagreementError` where they do not. */
  agreedBlockHash(blockNumber: bigint): Promise<Hex>;
  /** One node's word, asked once and within bounds. Whatever comes of it says nothing about the node's health. */
  askInPassing(method: string, params: unknown, limits: CallLimits): Promise<unknown>;
}

/** The nodes contradict each other, or too few of them know: nothing may depend on it yet. */
export class ChainDisagreementError extends BaseError {
  constructor(reason: string) {
    super(reason, { name: 'ChainDisagreementError' });
  }
}

export type NodeTrouble = 'node' | 'disagreement';

export interface NodeGroupOptions {
  /** How many nodes must say the same before it counts; more than half of those that answer by default. */
  readonly quorum?: number | undefined;
  /** How many blocks a node may be behind the furthest before another is asked. */
  readonly maxLagBlocks?: number;
  /** How long a node that failed is left alone while others answer. */
  readonly restMs?: number;
  /** Told what an operator should know; never called with an address. */
  readonly onTrouble?: (trouble: string, kind: NodeTrouble) => void;
}

interface Member {
  readonly node: RpcNode;
  readonly place: number;
  isVerified: boolean;
  isForeign: boolean;
  restsUntil: number;
  isOutOfStep: boolean;
}

interface Answer {
  readonly member: Member;
  readonly answer?: unknown;
  readonly error?: BaseError;
}

const DEFAULT_MAX_LAG_BLOCKS = 5;
const DEFAULT_REST_MS = 15_000;
// Comparing must not take as long as the slowest node is patient.
const COMPARISON_TIMEOUT_MS = 4_000;

export function groupNodes(
  nodes: readonly RpcNode[],
  chainId: number,
  options: NodeGroupOptions = {},
): NodeGroup {
  const pool = createPool(nodes, chainId, options);

  function call(method: string, params: unknown): Promise<unknown> {
    if (nodes.length === 1) return askFirst(pool, method, params);
    if (method === 'eth_blockNumber') return headNumber(pool);
    if (method === 'eth_sendRawTransaction') return sendToAll(pool, method, params);
    const question = questionOf(method, params);
    return question === undefined ? askFirst(pool, method, params) : agreed(pool, method, params, question);
  }

  return {
    call,

    async askInPassing(method, params, limits) {
      const [member] = pool.inOrder();
      if (member === undefined) throw new NodeUnavailableError('the chain', 'no node is configured');
      if (!member.isVerified) await pool.verify(member, limits.timeoutMs);
      return member.node.call(method, params, limits);
    },

    async agreedBlockHash(blockNumber) {
      const hash = hashOf(await call('eth_getBlockByNumber', [`0x${blockNumber.toString(16)}`, false]));
      if (hash === undefined) throw new ChainDisagreementError(`too few nodes know block ${blockNumber}`);
      return hash;
    },
  };
}

/** The nodes with what is known of their health. */
interface Pool {
  readonly chainId: number;
  readonly options: NodeGroupOptions;
  /** One node, whose health the outcome tells. */
  ask(member: Member, method: string, params: unknown, timeoutMs?: number): Promise<unknown>;
  /** Throws where the node serves another chain. */
  verify(member: Member, timeoutMs?: number): Promise<void>;
  /** Well first, then out of step, then resting: the last resort is still better than no answer. */
  inOrder(): Member[];
  /** How many blocks a node is ahead of the others, or behind. */
  noteStep(member: Member, aheadBlocks: number): void;
}

function createPool(nodes: readonly RpcNode[], chainId: number, options: NodeGroupOptions): Pool {
  const { maxLagBlocks = DEFAULT_MAX_LAG_BLOCKS, restMs = DEFAULT_REST_MS, onTrouble } = options;
  const health = { isVerified: false, isForeign: false, restsUntil: 0, isOutOfStep: false };
  const members = nodes.map((node, place): Member => ({ node, place, ...health }));

  /** A node of another network would answer everything, wrongly. */
  async function verify(member: Member, timeoutMs?: number): Promise<void> {
    const answered = await member.node.call('eth_chainId', [], { timeoutMs });
    if (Number(answered) !== chainId) {
      if (!member.isForeign) onTrouble?.(`${member.node.name} serves another chain than ${chainId}`, 'node');
      member.isForeign = true;
      throw new NodeUnavailableError(member.node.name, 'another chain');
    }
    member.isForeign = false;
    member.isVerified = true;
  }

  return {
    chainId,
    options,
    verify,
    async ask(member, method, params, timeoutMs) {
      try {
        if (!member.isVerified) await verify(member, timeoutMs);
        const answer = await member.node.call(method, params, { timeoutMs });
        member.restsUntil = 0;
        return answer;
      } catch (error) {
        if (error instanceof NodeUnavailableError) {
          if (member.restsUntil === 0) onTrouble?.(error.shortMessage, 'node');
          member.restsUntil = machineNow() + restMs;
        }
        throw error;
      }
    },
    inOrder() {
      const now = machineNow();
      const rank = (member: Member) => (member.restsUntil > now ? 2 : member.isOutOfStep ? 1 : 0);
      return members.toSorted((left, right) => rank(left) - rank(right) || left.place - right.place);
    },
    noteStep(member, aheadBlocks) {
      const isOutOfStep = Math.abs(aheadBlocks) > maxLagBlocks;
      if (isOutOfStep && !member.isOutOfStep) {
        const distance = `${Math.abs(aheadBlocks)} blocks ${aheadBlocks < 0 ? 'behind' : 'ahead of all others'}`;
        onTrouble?.(`${member.node.name} is ${distance}`, 'node');
      }
      member.isOutOfStep = isOutOfStep;
    },
  };
}

async function askFirst(pool: Pool, method: string, params: unknown): Promise<unknown> {
  let last: unknown = new NodeUnavailableError('the chain', 'no node is configured');
  for (const member of pool.inOrder()) {
    try {
      return await pool.ask(member, method, params);
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error;
      last = error;
    }
  }
  throw last;
}

/** Every node that is not resting, at once, the preferred ones first. */
async function askAll(pool: Pool, put: (member: Member) => Promise<unknown>): Promise<Answer[]> {
  const members = pool.inOrder();
  const awake = members.filter(({ restsUntil }) => restsUntil <= machineNow());
  const asked = awake.length > 0 ? awake : members;
  return Promise.all(
    asked.map(async (member): Promise<Answer> => {
      try {
        return { member, answer: await put(member) };
      } catch (error) {
        if (error instanceof BaseError) return { member, error };
        throw error;
      }
    }),
  );
}

function required({ options }: Pool, answering: number): number {
  return options.quorum ?? Math.floor(answering / 2) + 1;
}

/** One answer that enough nodes give and none contradicts. */
async function agreed(
  pool: Pool,
  method: string,
  params: unknown,
  question: ChainQuestion,
): Promise<unknown> {
  const answers = await askAll(pool, async (member) => {
    if (question.needsBlock !== undefined) {
      const block = [question.needsBlock, false];
      if ((await pool.ask(member, 'eth_getBlockByNumber', block, COMPARISON_TIMEOUT_MS)) === null)
        return null;
    }
    return pool.ask(member, method, params, COMPARISON_TIMEOUT_MS);
  });
  const reached = answers.filter(({ error }) => !(error instanceof NodeUnavailableError));
  const [silence] = answers;
  if (reached.length === 0) throw silence?.error ?? new NodeUnavailableError('the chain', 'no node answers');
  const known = reached.flatMap(({ answer, error }) => {
    const fact = error === undefined ? question.factIn(answer) : undefined;
    return fact === undefined ? [] : [{ answer, fact }];
  });
  requireOneFact(
    pool,
    question,
    known.map(({ fact }) => fact),
  );
  if (known.length >= required(pool, reached.length)) return known[0]?.answer;
  // A refusal tells more than that it is one: that less should be asked for, or that the call reverts.
  const refusal = reached.find(({ error }) => error !== undefined)?.error;
  if (refusal !== undefined) throw refusal;
  if (method === 'eth_getTransactionReceipt') return null;
  throw new ChainDisagreementError(`too few nodes know ${question.about}`);
}

function requireOneFact({ chainId, options }: Pool, { about }: ChainQuestion, facts: readonly Fact[]): void {
  const contents = new Set(facts.map(({ place, content }) => `${place} ${content}`));
  if (contents.size <= 1) return;
  // Honest nodes differ about young blocks for a moment; about the same place, or a deep one, they do not.
  const isContradiction = new Set(facts.map(({ place }) => place)).size < contents.size;
  if (isContradiction || about.startsWith('block')) {
    options.onTrouble?.(`the nodes of chain ${chainId} disagree about ${about}`, 'disagreement');
  }
  throw new ChainDisagreementError(`the nodes disagree about ${about}`);
}

/** The highest block that enough nodes have reached: one far ahead of all others is not believed alone. */
async function headNumber(pool: Pool): Promise<unknown> {
  const answers = await askAll(pool, (member) =>
    pool.ask(member, 'eth_blockNumber', [], COMPARISON_TIMEOUT_MS),
  );
  const heads = answers.flatMap(({ member, answer, error }) =>
    error === undefined ? [{ member, answer, head: Number(answer) }] : [],
  );
  const [furthest, second] = heads.map(({ head }) => head).sort((left, right) => right - left);
  if (furthest === undefined) return askFirst(pool, 'eth_blockNumber', []);
  // Of two it cannot be said which is wrong; of more, the one that is ahead alone.
  const pace = heads.length > 2 && second !== undefined ? second : furthest;
  for (const { member, head } of heads) pool.noteStep(member, head - pace);
  const byHeight = heads.toSorted((left, right) => right.head - left.head);
  const reached = byHeight[required(pool, heads.length) - 1];
  if (reached === undefined) throw new ChainDisagreementError('too few nodes answer');
  return reached.answer;
}

/** To every node: one that takes a transaction and keeps it to itself must not hold it up. */
async function sendToAll(pool: Pool, method: string, params: unknown): Promise<unknown> {
  const answers = await askAll(pool, (member) => pool.ask(member, method, params, COMPARISON_TIMEOUT_MS));
  const taken = answers.find(({ error }) => error === undefined);
  if (taken !== undefined) return taken.answer;
  const verdict = answers.find(({ error }) => !(error instanceof NodeUnavailableError));
  throw (verdict ?? answers[0])?.error ?? new NodeUnavailableError('the chain', 'no node answers');
}

function hashOf(block: unknown): Hex | undefined {
  if (typeof block !== 'object' || block === null || !('hash' in block)) return undefined;
  return typeof block.hash === 'string' ? (block.hash as Hex) : undefined;
}
