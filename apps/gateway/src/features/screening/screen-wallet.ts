import { CausewayError, SCREENING_CLEAR, type ScreeningStatus } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import { RecordedRefusal, type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { ScreeningHit } from '../../ports/name-screening.ts';
import {
  type WalletFinding,
  type WalletScreeningPort,
  WalletScreeningUnavailable,
} from '../../ports/wallet-screening.ts';
import type { HolderReader } from './screen-case.effect.ts';
import {
  type CaseSubject,
  casesOfSubject,
  countCases,
  findCase,
  listCases,
  lockCaseOfWallet,
  type ScreeningCaseRow,
  walletsDue,
  walletsNotClear,
} from './screening-case.store.ts';
import { draftCase, keepFinding, moveCase, openHits, RESULT_TRIGGERS } from './screening-case.ts';

export interface WalletDeps {
  readonly walletScreening: WalletScreeningPort;
}

export type WalletLook = WalletFinding | 'unavailable';

/** Asked while no transaction waits: the screening may be a service elsewhere. */
export async function lookUpWallet({ walletScreening }: WalletDeps, address: string): Promise<WalletLook> {
  try {
    return await walletScreening.screen(address.toLowerCase());
  } catch (error) {
    if (error instanceof WalletScreeningUnavailable) return 'unavailable';
    throw error;
  }
}

/**
 * Takes a wallet into use, or refuses it. Its case is kept either way, so that an operator sees who was refused; a
 * wallet that could not be judged is refused and leaves no case. Called before anything else is written.
 */
export async function takeWallet(unit: UnitOfWork, address: string, look: WalletLook): Promise<void> {
  const [known] = await unit.tx.query(lockCaseOfWallet, [address]);
  if (known?.decided_by_person === true && known.screening_status === SCREENING_CLEAR) return;
  if (look === 'unavailable') {
    throw new CausewayError('SERVICE_UNAVAILABLE', { message: 'Wallets cannot be screened at present.' });
  }
  const { listed, listVersion } = look;
  const found = { listed: [...listed], list_version: listVersion, screened_at: unit.at };
  const before = known ?? { ...draftCase(unit, walletSubject(address)), ...found };
  const { row } = moveCase(unit, before, RESULT_TRIGGERS[look.status], 'provider');
  if (known !== undefined) keepFinding(unit, known.case_id, { listVersion, listed });
  if (row.screening_status !== SCREENING_CLEAR)
    throw new RecordedRefusal(new CausewayError('WALLET_NOT_CLEARED'));
}

/** The same for a wallet that is named in a request whose work is done outside a transaction. */
export async function requireClearWallet(deps: UnitDeps & WalletDeps, address: string): Promise<void> {
  const look = await lookUpWallet(deps, address);
  await unitOfWork(deps, SYSTEM, (unit) => takeWallet(unit, address, look));
}

/** What has become of wallets that were clear when they were taken. */
export async function refuseLostWallets(unit: UnitOfWork, addresses: readonly string[]): Promise<void> {
  if ((await lostWallets(unit, addresses)).size > 0) throw new CausewayError('WALLET_NOT_CLEARED');
}

export async function lostWallets(unit: UnitOfWork, addresses: readonly string[]): Promise<Set<string>> {
  const keys = addresses.map((address) => address.toLowerCase());
  const lost = await unit.tx.query(walletsNotClear, [keys]);
  return new Set(lost.map(({ address }) => address));
}

const BATCH = 100;

/**
 * Screens the wallets of partners and vendors that never were, and again those that were a while ago: lists grow. While
 * the screening cannot be reached, a wallet that never was screened waits for it and is not used.
 */
export async function screenKnownWallets(
  deps: UnitDeps & WalletDeps,
  rescreenSeconds: number,
): Promise<number> {
  const screenedBefore = new Date(deps.clock.now() - rescreenSeconds * 1_000);
  const due = await deps.db.query(SYSTEM, walletsDue, [screenedBefore, BATCH]);
  for (const { address } of due) {
    const look = await lookUpWallet(deps, address);
    await unitOfWork(deps, SYSTEM, (unit) =>
      look === 'unavailable' ? askLater(unit, address) : takeWallet(unit, address, look),
    ).catch((error: unknown) => {
      // Refused is an answer: the case is written, and its orders are held.
      if (!(error instanceof CausewayError) || error.code !== 'WALLET_NOT_CLEARED') throw error;
    });
  }
  return due.length;
}

async function askLater(unit: UnitOfWork, address: string): Promise<void> {
  const [known] = await unit.tx.query(lockCaseOfWallet, [address]);
  if (known === undefined)
    moveCase(unit, draftCase(unit, walletSubject(address)), 'screening_requested', 'system');
}

const walletSubject = (address: string) =>
  ({ partner_id: null, subject_kind: 'wallet', subject_key: address.toLowerCase() }) as const;

export interface CaseReviewDeps extends UnitDeps {
  readonly holders: Readonly<Record<'destination' | 'payment_details', HolderReader>>;
}

export interface CaseToReview {
  readonly row: ScreeningCaseRow;
  readonly hits: readonly ScreeningHit[];
}

/** Cases that are not clear, with what was found. of a person who is erased nothing can be read any more. */
export async function screeningCases(
  deps: CaseReviewDeps,
  wanted: {
    readonly statuses: readonly ScreeningStatus[];
    readonly subject_kind?: CaseSubject | undefined;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly cases: readonly CaseToReview[]; readonly total: number }> {
  const { statuses, subject_kind: kind = null, limit, offset } = wanted;
  const [rows, [count]] = await deps.db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listCases, [statuses, kind, limit, offset], countCases, [statuses, kind]),
  );
  const cases: CaseToReview[] = [];
  for (const row of rows) cases.push({ row, hits: await hitsOf(deps, row) });
  return { cases, total: Number(count?.total ?? 0) };
}

export async function screeningCase(deps: CaseReviewDeps, caseId: string): Promise<CaseToReview | null> {
  const [row] = await deps.db.query(SYSTEM, findCase, [caseId]);
  return row === undefined ? null : { row, hits: await hitsOf(deps, row) };
}

/** The cases about one subject, clear or not: an operator may know more than a list. */
export async function casesAbout(deps: CaseReviewDeps, subject: string): Promise<readonly CaseToReview[]> {
  const rows = await deps.db.query(SYSTEM, casesOfSubject, [subject]);
  return Promise.all(rows.map(async (row) => ({ row, hits: await hitsOf(deps, row) })));
}

async function hitsOf({ holders }: CaseReviewDeps, row: ScreeningCaseRow): Promise<ScreeningHit[]> {
  if (row.subject_kind === 'wallet' || row.hits_sealed === null) return [];
  const holder = await holders[row.subject_kind](row.subject_key);
  return holder === undefined ? [] : openHits(holder.vault, row);
}
