import { encodeEventTopics, formatLog, getAddress, numberToHex, type RpcLog } from 'viem';
import { SYSTEM } from '../../db/database.ts';
import { type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { inSlices } from '../../lib/slices.ts';
import type { Address } from '../chain-settings.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import type { Deposit, EscrowWatch } from './chain-facts.ts';
import {
  depositsIn,
  inChainOrder,
  type TransferLog,
  transferEvent,
  transferIn,
  type UnclassifiedDeposit,
  watchesByAddress,
} from './chain-logs.ts';
import {
  countForeignDeposits,
  holdForeignCursor,
  moveForeignCursor,
  readForeignCursor,
  recordGap,
  startForeignCursor,
} from './foreign-tokens.store.ts';
import type { BlockRange } from './log-reader.ts';
import { listWatches, readCursor, readKnown, recordDeposits } from './watch.store.ts';
import { type WatcherDeps, watchedSince } from './watcher.ts';

/**
 * Looks for tokens that a chain is not configured for and that somebody has sent to an escrow all the same. Anyone can
 * log such a transfer for next to nothing, so this is best effort and apart from watching: behind it, in turns of its
 * own, with a bound on what one turn asks, takes and keeps. What is passed over is recorded as a gap; nothing waits for it.
 */
export interface ForeignTokenReader {
  /** Looks through the next stretch of blocks that the watcher has read. */
  look(): Promise<void>;
}

const BLOCKS_A_TURN = 500n;
/** Further behind than that, the blocks in between are passed over. */
const MAX_BEHIND_BLOCKS = 20_000n;
const QUESTIONS_A_TURN = 60;
const SUBJECTS_A_QUERY = 400;
const ANSWER_LIMITS = { timeoutMs: 3_000, maxAnswerBytes: 512 * 1024 };
/** As many as a person would still look at. */
const DEPOSITS_AN_ESCROW = 20;

interface Finding {
  readonly transfers: TransferLog[];
  readonly missed: { readonly range: BlockRange; readonly escrows: number }[];
}

export function foreignTokenReader(deps: WatcherDeps): ForeignTokenReader {
  const { db, clock, logger, client, settings, handlers } = deps;
  const { chainId, slug } = settings;
  const ownTokens = settings.tokens.map(({ address }) => getAddress(address));

  async function ask(escrows: readonly Address[], range: BlockRange): Promise<TransferLog[]> {
    const filter = {
      topics: encodeEventTopics({ abi: [transferEvent], args: { to: [...escrows] } }),
      fromBlock: numberToHex(range.fromBlock),
      toBlock: numberToHex(range.toBlock),
    };
    const answer = await answered(client.askInPassing('eth_getLogs', [filter], ANSWER_LIMITS));
    if (!Array.isArray(answer)) throw new ChainUnavailableError('the node answers with something else');
    return inSlices(answer as RpcLog[], (log) => transferIn(formatLog(log)));
  }

  /** In parts where it is too much, until the turn has asked enough; one escrow in one block is then passed over. */
  async function search(watches: readonly EscrowWatch[], whole: BlockRange): Promise<Finding> {
    const finding: Finding = { transfers: [], missed: [] };
    const parts: { escrows: readonly Address[]; range: BlockRange }[] = [];
    for (let start = 0; start < watches.length; start += SUBJECTS_A_QUERY) {
      const some = watches.slice(start, start + SUBJECTS_A_QUERY);
      parts.push({ escrows: some.map(({ address }) => address), range: whole });
    }
    // However many escrows there are, each is asked about once.
    let questionsLeft = parts.length + QUESTIONS_A_TURN;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const { escrows, range } = part;
      try {
        if (questionsLeft-- <= 0) throw new ChainUnavailableError('the turn has asked enough', true);
        finding.transfers.push(...(await ask(escrows, range)));
      } catch (error) {
        if (!(error instanceof ChainUnavailableError) || !error.isRefusal) throw error;
        const rest = questionsLeft > 0 ? halves(escrows, range) : undefined;
        if (rest === undefined) finding.missed.push({ range, escrows: escrows.length });
        else parts.push(...rest);
      }
    }
    return finding;
  }

  async function record(unit: UnitOfWork, range: BlockRange, found: readonly UnclassifiedDeposit[]) {
    const escrows = [...new Set(found.map(({ escrow }) => escrow))];
    const [{ isKnown }, onRecord] = [
      await readKnown(unit, chainId, found),
      await countForeignDeposits(unit, chainId, escrows, ownTokens),
    ];
    const kept: Deposit[] = [];
    for (const deposit of found) {
      const soFar = onRecord.get(deposit.escrow) ?? 0;
      if (isKnown(deposit) || soFar >= DEPOSITS_AN_ESCROW) continue;
      onRecord.set(deposit.escrow, soFar + 1);
      kept.push({ ...deposit, kind: 'wrong_token', depositId: unit.ids.uuid() });
    }
    await recordDeposits(unit, chainId, kept);
    for (const deposit of kept) {
      for (const handle of handlers) await handle(deposit, unit);
    }
    if (kept.length > 0) {
      const { fromBlock, toBlock } = range;
      const blocks = `${fromBlock} to ${toBlock}`;
      logger.warn({ chain: slug, blocks, deposits: kept.length }, 'foreign tokens held for review');
    }
    return found.filter((deposit) => !isKnown(deposit)).length - kept.length;
  }

  async function settle(
    cursor: bigint,
    range: BlockRange,
    finding: Finding,
    watches: readonly EscrowWatch[],
  ) {
    const found = depositsIn(chainId, watchesByAddress(watches), finding.transfers)
      .filter(({ token }) => !ownTokens.includes(token))
      .sort(inChainOrder);
    await unitOfWork(deps, SYSTEM, async (unit) => {
      if (!(await holdForeignCursor(unit, chainId, cursor))) return;
      const unkept = found.length === 0 ? 0 : await record(unit, range, found);
      const escrows = finding.missed.reduce((sum, missed) => sum + missed.escrows, 0);
      if (unkept > 0 || escrows > 0) noteGap(unit, range, escrows, unkept);
      moveForeignCursor(unit, chainId, range.toBlock);
    });
  }

  function noteGap(unit: UnitOfWork, range: BlockRange, escrows: number, deposits: number): void {
    recordGap(unit, chainId, { ...range, escrows, deposits }, watchedSince(unit.at.getTime()));
    logger.warn(
      { chain: slug, from_block: `${range.fromBlock}`, to_block: `${range.toBlock}`, escrows, deposits },
      'passed over transfers of foreign tokens: too many to read',
    );
  }

  async function lookOn(): Promise<void> {
    const watched = (await readCursor(db, chainId))?.blockNumber;
    if (watched === undefined) return;
    const cursor = await readForeignCursor(db, chainId);
    // A local chain that was rolled back is looked through again from where it is now.
    if (cursor === undefined || cursor > watched) {
      await startForeignCursor(db, chainId, watched, clock.date());
      return;
    }
    if (cursor === watched) return;
    const watches = await listWatches(db, chainId, watchedSince(clock.now()));
    const fromBlock = cursor + 1n;
    if (watched - cursor > MAX_BEHIND_BLOCKS) {
      const skipped = { fromBlock, toBlock: watched - BLOCKS_A_TURN };
      const missed = [{ range: skipped, escrows: watches.length }];
      await settle(cursor, skipped, { transfers: [], missed }, watches);
      return;
    }
    const range = { fromBlock, toBlock: smaller(cursor + BLOCKS_A_TURN, watched) };
    await settle(cursor, range, await search(watches, range), watches);
  }

  return {
    async look() {
      try {
        await lookOn();
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        logger.warn({ chain: slug, reason: error.message }, 'foreign tokens cannot be looked for just now');
      }
    },
  };
}

/** By blocks first; undefined for one escrow in one block. */
function halves(escrows: readonly Address[], { fromBlock, toBlock }: BlockRange) {
  if (toBlock > fromBlock) {
    const middle = (fromBlock + toBlock) / 2n;
    return [
      { escrows, range: { fromBlock: middle + 1n, toBlock } },
      { escrows, range: { fromBlock, toBlock: middle } },
    ];
  }
  if (escrows.length === 1) return undefined;
  const middle = escrows.length >> 1;
  return [escrows.slice(0, middle), escrows.slice(middle)].map((half) => ({
    escrows: half,
    range: { fromBlock, toBlock },
  }));
}
