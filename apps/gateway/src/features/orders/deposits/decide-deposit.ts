import {
  CausewayError,
  type DepositDecision,
  type DepositTrigger,
  floorDiv,
  type OrderStatus,
  parsePercent,
  WHOLE_IN_MILLIONTHS,
} from '@causeway/protocol';
import type { Address } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { escrowNonce } from '../../../chain/escrow/escrow-execution.ts';
import { tokenBalance } from '../../../chain/token-reads.ts';
import { answered, ChainUnavailableError } from '../../../chain/transactions/transaction-rpc.ts';
import { sameAddress } from '../../../chain/watcher/chain-facts.ts';
import { watchAgain } from '../../../chain/watcher/watch.store.ts';
import { type Database, type Scope, SYSTEM } from '../../../db/database.ts';
import { postEntry } from '../../../engine/ledger.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { lookUpWallet, takeWallet, type WalletDeps, type WalletLook } from '../../screening/screen-wallet.ts';
import {
  type DepositRow,
  depositsOfOrder,
  dropRefundSignatures,
  findDeposit,
  lockDepositsOfOrder,
  setShortfall,
} from '../escrow/escrow.store.ts';
import { depositOf, FUNDED } from '../escrow/escrow.ts';
import { moveOrder } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { findOrder, lockOrder, setTransactionHash } from '../lifecycle/order.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import {
  type DepositCase,
  depositCase,
  heldEntry,
  moveDeposit,
  requireMove,
  tokenOf,
} from './deposit.adapter.ts';

export interface DepositDeps {
  readonly db: Database;
  readonly chains: Chains;
}

export interface DepositDecisionDeps extends DepositDeps, WalletDeps {
  readonly orderAdapters: OrderAdapters;
  /** How much of an off-ramp deposit may be missing, in percent of it. */
  readonly depositTolerancePct: string;
}

const TRIGGERS: Readonly<Record<DepositDecision, DepositTrigger>> = {
  accept: 'acceptance_decided',
  return: 'return_decided',
  hold: 'decision_withdrawn',
  dismiss: 'dismissal_decided',
};

/** What has to be asked of others before anything is locked. */
export interface DepositSight {
  /** The nonce of the escrow's next transaction. */
  readonly nonce: bigint;
  /** What the escrow holds of the deposit's token; of an unknown token, what the token says. */
  readonly balance: bigint;
  readonly wallets: ReadonlyMap<string, WalletLook>;
}

export async function loadDeposit(
  { db }: { readonly db: Database },
  scope: Scope,
  depositId: string,
): Promise<{ readonly deposit: DepositRow; readonly order: OrderRow }> {
  const [deposit] = await db.query(scope, findDeposit, [depositId]);
  const [order] = deposit === undefined ? [] : await db.query(scope, findOrder, [deposit.order_id]);
  if (deposit === undefined || order === undefined) throw new CausewayError('DEPOSIT_NOT_FOUND');
  return { deposit, order };
}

export async function readEscrowNonce(chains: Chains, order: OrderRow, escrow: Address): Promise<bigint> {
  try {
    return await escrowNonce(chains.get(order.chain).client, escrow);
  } catch (cause) {
    if (cause instanceof ChainUnavailableError) throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause });
    throw cause;
  }
}

export async function lookAtDeposit(
  deps: DepositDecisionDeps,
  depositId: string,
  decision: DepositDecision,
  returnTo: Address | undefined,
): Promise<DepositSight> {
  const { deposit, order } = await loadDeposit(deps, SYSTEM, depositId);
  const { client, settings } = deps.chains.get(order.chain);
  const { address, token, sender } = deposit;
  const others = await deps.db.query(SYSTEM, depositsOfOrder, [deposit.order_id]);
  const payers = {
    accept: others.filter((one) => sameAddress(one.token, token)).map((one) => one.sender),
    return: [returnTo ?? sender],
    hold: [],
    dismiss: [],
  }[decision];
  const isKnown = tokenOf(settings, token) !== undefined;
  const balance = answered(tokenBalance(client, token, address)).catch((cause: unknown) => {
    // A third party's contract may answer anything or nothing; of our own it is the node that does not.
    if (isKnown) throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause });
    return 0n;
  });
  const wallets = [...new Set(payers.map((payer) => payer.toLowerCase()))].map(
    async (payer) => [payer, await lookUpWallet(deps, payer)] as const,
  );
  // Together: a question that failed while another was waited for would end the process.
  const [nonce, held, looks] = await Promise.all([
    readEscrowNonce(deps.chains, order, address),
    balance,
    Promise.all(wallets),
  ]);
  return { nonce, balance: held, wallets: new Map(looks) };
}

interface LockedDeposit {
  readonly order: OrderRow;
  readonly deposit: DepositRow;
  readonly others: readonly DepositRow[];
}

/** The order first, then its deposits: crediting, deciding and signing all lock in this order. */
export async function lockDeposit(unit: UnitOfWork, depositId: string): Promise<LockedDeposit> {
  const [found] = await unit.tx.query(findDeposit, [depositId]);
  const [order] = found === undefined ? [] : await unit.tx.query(lockOrder, [found.order_id]);
  const all = order === undefined ? [] : await unit.tx.query(lockDepositsOfOrder, [order.order_id]);
  const deposit = all.find(({ deposit_id }) => deposit_id === found?.deposit_id);
  if (order === undefined || deposit === undefined) throw new CausewayError('DEPOSIT_NOT_FOUND');
  return { order, deposit, others: all.filter((one) => one !== deposit) };
}

/** One deposit and how much of it the order takes. */
interface Share {
  readonly deposit: DepositRow;
  readonly taken: bigint;
}

/** This deposit first, then the other held ones in the chain's order, until the order has what it needs. */
function sharesOf({ order, deposit, others }: LockedDeposit): { shares: Share[]; missing: bigint } {
  const held = others.filter(
    (one) => one.disposition === deposit.disposition && sameAddress(one.token, deposit.token),
  );
  let missing = depositOf(order);
  const shares: Share[] = [];
  for (const one of [deposit, ...held]) {
    if (missing === 0n) break;
    const amount = BigInt(one.amount);
    const taken = amount < missing ? amount : missing;
    shares.push({ deposit: one, taken });
    missing -= taken;
  }
  return { shares, missing };
}

/**
 * What may be missing of a deposit: the platform bears it out of its fee, so that the others get what was quoted. An
 * on-ramp vendor has signed its refund before it pays, so for it there is none: it pays the rest.
 */
function toleranceOf({ depositTolerancePct }: DepositDecisionDeps, order: OrderRow): bigint {
  if (order.direction === 'onramp') return 0n;
  const percent = parsePercent(depositTolerancePct);
  if (!percent.ok) throw new Error('the deposit tolerance is no percentage');
  const share = floorDiv(depositOf(order) * percent.value.millionths, WHOLE_IN_MILLIONTHS);
  const fee = BigInt(order.platform_fee);
  return share < fee ? share : fee;
}

export interface DecidedDeposit {
  readonly before: DepositRow;
  readonly after: DepositRow;
  readonly orderStatus: OrderStatus;
}

/** An operator's decision about one deposit; the tables say whether it can be made. */
export async function decideDeposit(
  deps: DepositDecisionDeps,
  unit: UnitOfWork,
  depositId: string,
  made: { readonly decision: DepositDecision; readonly returnTo?: Address },
  seen: DepositSight,
): Promise<DecidedDeposit> {
  const locked = await lockDeposit(unit, depositId);
  if (made.decision === 'accept') return accept(deps, unit, locked, seen);
  const { order, deposit: before, others } = locked;
  const { settings } = deps.chains.get(order.chain);
  const around = { settings, order, others, nonce: seen.nonce, covers: false, surplus: 0n };
  const one = depositCase(before, around);
  const trigger = TRIGGERS[made.decision];
  requireMove(one, trigger, 'operator');
  const terms = {
    return: () => returnTerms(unit, one, made.returnTo ?? before.sender, seen),
    hold: () => ({ return_to: null, return_amount: null, return_nonce: null, return_signature: null }),
    // What was executed of its return stays on the record.
    dismiss: () => ({}),
  }[made.decision];
  const decided = { ...before, ...(await terms()), decided_at: unit.at };
  const after = moveDeposit(unit, { ...one, deposit: decided }, trigger, 'operator');
  // What becomes of its escrow is of interest again.
  watchAgain(unit, order.order_id);
  return { before, after, orderStatus: order.status };
}

async function returnTerms(unit: UnitOfWork, one: DepositCase, payee: Address, seen: DepositSight) {
  const { deposit, facts } = one;
  if (
    [deposit.address, deposit.token].some((address) => sameAddress(address, payee)) ||
    BigInt(payee) === 0n
  ) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'This address cannot be paid; name another in return_to.',
    });
  }
  await takeWallet(unit, payee, seen.wallets.get(payee.toLowerCase()) ?? 'unavailable');
  const amount = BigInt(deposit.amount);
  // What a third party's token has logged need not be there.
  const real = facts.knownToken || seen.balance > amount ? amount : seen.balance;
  if (real === 0n) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The escrow holds nothing of this token; dismiss the deposit.',
    });
  }
  return { return_to: payee, return_amount: `${real}` };
}

/** Credits what the order needs, from as many held deposits as it takes; the rest goes back to the payer. */
async function accept(
  deps: DepositDecisionDeps,
  unit: UnitOfWork,
  locked: LockedDeposit,
  seen: DepositSight,
): Promise<DecidedDeposit> {
  const { deposit: before } = locked;
  const { settings } = deps.chains.get(locked.order.chain);
  const { shares, missing } = sharesOf(locked);
  const order = { ...locked.order, deposit_shortfall: `${missing}` };
  const everyDeposit = [locked.deposit, ...locked.others];
  const covers = missing <= toleranceOf(deps, locked.order) && seen.balance >= depositOf(order);
  const cases = shares.map(({ deposit, taken }) => {
    const others = everyDeposit.filter((one) => one !== deposit);
    const surplus = BigInt(deposit.amount) - taken;
    const one = depositCase(deposit, { settings, order, others, nonce: seen.nonce, covers, surplus });
    return { one, taken, surplus };
  });
  for (const { one } of cases) requireMove(one, 'acceptance_decided', 'operator');
  for (const payer of new Set(shares.map(({ deposit }) => deposit.sender.toLowerCase()))) {
    await takeWallet(unit, payer, seen.wallets.get(payer) ?? 'unavailable');
  }
  // Before anything else is written: where the order refuses, its refusal may be all that stays.
  const after = moveOrder(unit, deps.orderAdapters, order, FUNDED[order.direction], 'chain');
  const accepted = cases.map(({ one, taken, surplus }) => {
    const { deposit } = one;
    // What was held before the books knew of it comes into them now.
    postEntry(unit, heldEntry(deposit, BigInt(deposit.amount), settings));
    const rest = surplus > 0n ? { return_to: deposit.sender, return_amount: `${surplus}` } : {};
    const decided = { ...deposit, ...rest, credited_amount: `${taken}`, decided_at: unit.at };
    return moveDeposit(unit, { ...one, deposit: decided }, 'acceptance_decided', 'operator');
  });
  if (missing > 0n) {
    unit.tx.defer(setShortfall, [order.order_id, order.deposit_shortfall]);
    // Signed for the whole deposit, it fits no more; the party that is owed a refund signs the one that does.
    unit.tx.defer(dropRefundSignatures, [order.order_id]);
  }
  unit.tx.defer(setTransactionHash, [order.order_id, before.tx_hash]);
  watchAgain(unit, order.order_id);
  return {
    before,
    after: accepted.find(({ deposit_id }) => deposit_id === before.deposit_id) ?? before,
    orderStatus: after.status,
  };
}
