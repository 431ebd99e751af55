import { encodeEventTopics, formatLog, getAddress, numberToHex, type RpcLog } from 'viem';
import { SYSTEM } from '../../db/database.ts';
import { type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { inSlices } from '../../lib/pacing.ts';
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
import { readKnown, recordDeposits } from './deposits.store.ts';
import {
  countForeignDeposits,
  holdForeignCursor,
  moveForeignCursor,
  readForeignCursor,
  recordGap,
  startForeignCursor,
} from './foreign-tokens.store.ts';
import type { BlockRange } from './log-reader.ts';
import { readCursor } from './watch.store.ts';
import { createWatchedEscrows, type WatchedEscrows, watchedSince } from './watched-escrows.ts';
import type { WatcherDeps } from './watching.ts';

/**
 * Looks for tokens that a chain is not configured for and that were sent to an escrow all the same. Anyone can
 * log such a transfer for next to nothing, so this is best effort and apart from watching: behind it, in turns of its
 * own, with a bound on what one turn asks, takes and keeps. What is passed over is recorded as a gap; nothing waits for it.
 */
export interface ForeignTokenReader {
  /** Looks through the next stretch of blocks that the watcher has read. */
  look(): Promise<void>;
}

/** At most; fewer where the node takes too long for so many. */
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

interface Looking extends WatcherDeps {
  readonly escrows: WatchedEscrows;
  readonly ownTokens: readonly Address[];
}

export function foreignTokenReader(deps: WatcherDeps): ForeignTokenReader {
  const { logger, settings } = deps;
  const looking: Looking = {
    ...deps,
    escrows: createWatchedEscrows(deps, settings.chainId),
    ownTokens: settings.tokens.map(({ address }) => getAddress(address)),
  };
  let blocks = BLOCKS_A_TURN;
  return {
    async look() {
      try {
        await lookOn(looking, blocks);
        blocks = smaller(BLOCKS_A_TURN, blocks + blocks / 8n + 1n);
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        // Asked for as many again, a slow node would be late again, and nothing were ever looked at.
        blocks = blocks / 2n || 1n;
        const reason = error.message;
        logger.warn({ chain: settings.slug, reason }, 'foreign tokens cannot be looked for just now');
      }
    },
  };
}

async function lookOn(looking: Looking, blocks: bigint): Promise<void> {
  const { db, clock, settings, escrows } = looking;
  const { chainId } = settings;
  const watched = (await readCursor(db, chainId))?.blockNumber;
  if (watched === undefined) return;
  const cursor = await readForeignCursor(db, chainId);
  // A local chain that was rolled back is looked through again from where it is now.
  if (cursor === undefined || cursor > watched) {
    await startForeignCursor(db, chainId, watched, clock.date());
    return;
  }
  if (cursor === watched) return;
  const watches = await escrows.list();
  const fromBlock = cursor + 1n;
  if (watched - cursor > MAX_BEHIND_BLOCKS) {
    const skipped = { fromBlock, toBlock: watched - BLOCKS_A_TURN };
    const missed = [{ range: skipped, escrows: watches.length }];
    await settle(looking, cursor, skipped, { transfers: [], missed }, watches);
    return;
  }
  const range = { fromBlock, toBlock: smaller(cursor + blocks, watched) };
  await settle(looking, cursor, range, await search(looking, watches, range), watches);
}

async function ask(
  { client }: Looking,
  escrows: readonly Address[],
  range: BlockRange,
): Promise<TransferLog[]> {
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
async function search(
  looking: Looking,
  watches: readonly EscrowWatch[],
  whole: BlockRange,
): Promise<Finding> {
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
      finding.transfers.push(...(await ask(looking, escrows, range)));
    } catch (error) {
      if (!(error instanceof ChainUnavailableError) || !error.isRefusal) throw error;
      const rest = questionsLeft > 0 ? halves(escrows, range) : undefined;
      if (rest === undefined) finding.missed.push({ range, escrows: escrows.length });
      else parts.push(...rest);
    }
  }
  return finding;
}

async function settle(
  looking: Looking,
  cursor: bigint,
  range: BlockRange,
  finding: Finding,
  watches: readonly EscrowWatch[],
): Promise<void> {
  const { chainId } = looking.settings;
  const found = depositsIn(chainId, watchesByAddress(watches), finding.transfers)
    .filter(({ token }) => !looking.ownTokens.includes(token))
    .sort(inChainOrder);
  await unitOfWork(looking, SYSTEM, async (unit) => {
    if (!(await holdForeignCursor(unit, chainId, cursor))) return;
    const unkept = found.length === 0 ? 0 : await record(looking, unit, range, found);
    const escrows = finding.missed.reduce((sum, missed) => sum + missed.escrows, 0);
    if (unkept > 0 || escrows > 0) noteGap(looking, unit, { ...range, escrows, deposits: unkept });
    moveForeignCursor(unit, chainId, range.toBlock);
  });
}

/** Answers how many were found and not kept. */
async function record(
  { logger, settings, handlers, ownTokens }: Looking,
  unit: UnitOfWork,
  range: BlockRange,
  found: readonly UnclassifiedDeposit[],
): Promise<number> {
  const { chainId, slug } = settings;
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
    const blocks = `${range.fromBlock} to ${range.toBlock}`;
    logger.warn({ chain: slug, blocks, deposits: kept.length }, 'foreign tokens held for review');
  }
  return found.filter((deposit) => !isKnown(deposit)).length - kept.length;
}

function noteGap(
  { logger, settings }: Looking,
  unit: UnitOfWork,
  gap: BlockRange & { readonly escrows: number; readonly deposits: number },
): void {
  const { fromBlock, toBlock, escrows, deposits } = gap;
  recordGap(unit, settings.chainId, gap, watchedSince(unit.at.getTime()));
  logger.warn(
    { chain: settings.slug, from_block: `${fromBlock}`, to_block: `${toBlock}`, escrows, deposits },
    'passed over transfers of foreign tokens: too many to read',
  );
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
