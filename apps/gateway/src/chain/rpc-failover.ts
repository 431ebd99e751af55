import { BaseError } from 'viem';
import { machineNow } from '../lib/clock.ts';
import type { Hex } from './chain-settings.ts';
import { NodeUnavailableError, type RpcNode } from './rpc-node.ts';

/**
 * Several nodes of one chain as one. Questions go to the first that is well: it answered lately, serves the right chain
 * and is not behind the others. Before anything counts as final, all of them are asked for the same block, because a
 * node that lies, or follows a fork, is outvoted only by being compared.
 */
export interface NodeGroup {
  call(method: string, params: unknown): Promise<unknown>;
  /** The hash of a block that every reachable node agrees on; throws `ChainDisagreementError` where they do not. */
  agreedBlockHash(blockNumber: bigint): Promise<Hex>;
}

/** The nodes contradict each other, or too few of them know the block: nothing may depend on it yet. */
export class ChainDisagreementError extends BaseError {
  constructor(reason: string) {
    super(reason, { name: 'ChainDisagreementError' });
  }
}

export interface NodeGroupOptions {
  /** How many blocks a node may be behind the furthest before another is asked. */
  readonly maxLagBlocks?: number;
  /** How long a node that failed is left alone while others answer. */
  readonly restMs?: number;
  /** Told what an operator should know; never called with an address. */
  readonly onTrouble?: (trouble: string) => void;
}

interface Member {
  readonly node: RpcNode;
  readonly place: number;
  isVerified: boolean;
  isForeign: boolean;
  restsUntil: number;
  isBehind: boolean;
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
  const { maxLagBlocks = DEFAULT_MAX_LAG_BLOCKS, restMs = DEFAULT_REST_MS, onTrouble } = options;
  const members = nodes.map(
    (node, place): Member => ({
      node,
      place,
      isVerified: false,
      isForeign: false,
      restsUntil: 0,
      isBehind: false,
    }),
  );

  async function ask(member: Member, method: string, params: unknown, timeoutMs?: number): Promise<unknown> {
    try {
      if (!member.isVerified) await verify(member, timeoutMs);
      const answer = await member.node.call(method, params, timeoutMs);
      member.restsUntil = 0;
      return answer;
    } catch (error) {
      if (error instanceof NodeUnavailableError) {
        if (member.restsUntil === 0) onTrouble?.(error.shortMessage);
        member.restsUntil = machineNow() + restMs;
      }
      throw error;
    }
  }

  /** A node of another network would answer everything, wrongly. */
  async function verify(member: Member, timeoutMs?: number): Promise<void> {
    const answered = await member.node.call('eth_chainId', [], timeoutMs);
    if (Number(answered) !== chainId) {
      if (!member.isForeign) onTrouble?.(`${member.node.name} serves another chain than ${chainId}`);
      member.isForeign = true;
      throw new NodeUnavailableError(member.node.name, 'another chain');
    }
    member.isForeign = false;
    member.isVerified = true;
  }

  /** Well first, then behind, then resting: the last resort is still better than no answer. */
  function inOrder(): Member[] {
    const now = machineNow();
    const rank = (member: Member) => (member.restsUntil > now ? 2 : member.isBehind ? 1 : 0);
    return members.toSorted((left, right) => rank(left) - rank(right) || left.place - right.place);
  }

  /** A node that is behind answers a question about logs of blocks it does not have with silence: no logs. */
  async function requireBlocksOf(member: Member, params: unknown): Promise<void> {
    const [filter] = params as readonly [{ readonly toBlock?: unknown }];
    if (members.length === 1 || typeof filter.toBlock !== 'string') return;
    if ((await ask(member, 'eth_getBlockByNumber', [filter.toBlock, false])) === null) {
      throw new NodeUnavailableError(member.node.name, 'behind');
    }
  }

  async function call(method: string, params: unknown): Promise<unknown> {
    let last: unknown = new NodeUnavailableError('the chain', 'no node is configured');
    for (const member of inOrder()) {
      try {
        if (method === 'eth_getLogs') await requireBlocksOf(member, params);
        return await ask(member, method, params);
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error;
        last = error;
      }
    }
    throw last;
  }

  /** Every node that is not resting, at once; those that do not answer are left out. */
  async function askAll(method: string, params: unknown): Promise<{ member: Member; answer: unknown }[]> {
    const awake = members.filter(({ restsUntil }) => restsUntil <= machineNow());
    const asked = awake.length > 0 ? awake : members;
    const answers = await Promise.all(
      asked.map(async (member) => {
        try {
          return [{ member, answer: await ask(member, method, params, COMPARISON_TIMEOUT_MS) }];
        } catch (error) {
          if (error instanceof BaseError) return [];
          throw error;
        }
      }),
    );
    return answers.flat();
  }

  /** The head of the first node that keeps up with the furthest. */
  async function headNumber(): Promise<unknown> {
    const answers = await askAll('eth_blockNumber', []);
    const heads = answers.map(({ member, answer }) => ({ member, answer, head: Number(answer) }));
    const furthest = Math.max(...heads.map(({ head }) => head));
    for (const { member, head } of heads) {
      const isBehind = furthest - head > maxLagBlocks;
      if (isBehind && !member.isBehind)
        onTrouble?.(`${member.node.name} is ${furthest - head} blocks behind`);
      member.isBehind = isBehind;
    }
    const chosen = heads.find(({ member }) => !member.isBehind);
    return chosen === undefined ? call('eth_blockNumber', []) : chosen.answer;
  }

  return {
    call(method, params) {
      return method === 'eth_blockNumber' && members.length > 1 ? headNumber() : call(method, params);
    },

    async agreedBlockHash(blockNumber) {
      const params = [`0x${blockNumber.toString(16)}`, false];
      const answers =
        members.length > 1
          ? await askAll('eth_getBlockByNumber', params)
          : [{ answer: await call('eth_getBlockByNumber', params) }];
      if (answers.length === 0) throw new NodeUnavailableError('the chain', 'no node answers');
      const hashes = answers.map(({ answer }) => hashOf(answer)).filter((hash) => hash !== undefined);
      const [hash, ...others] = new Set(hashes);
      if (others.length > 0) {
        onTrouble?.(`the nodes of chain ${chainId} disagree about block ${blockNumber}`);
        throw new ChainDisagreementError(`the nodes disagree about block ${blockNumber}`);
      }
      // A node far ahead of all others is more likely to be wrong than they are.
      if (hash === undefined || hashes.length * 2 <= answers.length) {
        throw new ChainDisagreementError(`too few nodes know block ${blockNumber}`);
      }
      return hash;
    },
  };
}

function hashOf(block: unknown): Hex | undefined {
  if (typeof block !== 'object' || block === null || !('hash' in block)) return undefined;
  return typeof block.hash === 'string' ? (block.hash as Hex) : undefined;
}
