import {
  actionsInStatus,
  CausewayError,
  DEPOSIT_RETURNED,
  DEPOSIT_RETURNING,
  type DepositFacts,
  type DepositGuard,
  type DepositStatus,
  type DepositTrigger,
  decide,
  depositMachine,
  INITIAL_DEPOSIT_FACTS,
  isTerminal,
  ORDER_MACHINES,
  type PostingKind,
} from '@causeway/protocol';
import type { Address, ChainSettings } from '../../../chain/chain-settings.ts';
import { sameAddress } from '../../../chain/watcher/chain-facts.ts';
import { execute, type MachineAdapter } from '../../../engine/execute.ts';
import { type EntryDraft, moveFunds } from '../../../engine/ledger.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { type DepositRow, setDeposit, signDeposit } from '../escrow/escrow.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import { openerAccount } from '../lifecycle/postings.ts';

export const RETURN = 'escrow.return-deposit';

/** A deposit with everything that decides what may become of it. */
export interface DepositCase {
  readonly deposit: DepositRow;
  /** Whose it becomes when it is accepted. */
  readonly order: Pick<
    OrderRow,
    'direction' | 'vendor_id' | 'partner_id' | 'user_id' | 'customer_wallet'
  > | null;
  readonly settings: ChainSettings;
  readonly facts: DepositFacts;
}

export type DepositActor = 'chain' | 'operator' | 'partner' | 'vendor';

/** What the chain and the other deposits say, beside the deposit itself. */
export interface DepositSurroundings {
  readonly settings: ChainSettings;
  readonly order: OrderRow;
  readonly others: readonly DepositRow[];
  readonly nonce: bigint;
  readonly covers: boolean;
  readonly surplus: bigint;
}

export function depositCase(deposit: DepositRow, around: DepositSurroundings): DepositCase {
  const { settings, order, others } = around;
  const { escrow } = order.facts;
  return {
    deposit,
    order,
    settings,
    facts: {
      ownToken: tokenOf(settings, deposit.token)?.code === order.crypto_currency,
      knownToken: tokenOf(settings, deposit.token) !== undefined,
      orderAwaitsFunding: escrow === 'none' && !hasEnded(order),
      escrowFree: isEscrowFree(order, escrow),
      escrowUnused: around.nonce === 0n && !others.some(isSigned),
      covers: around.covers,
      surplus: around.surplus > 0n,
      partCredited: BigInt(deposit.credited_amount) > 0n,
      signed: isSigned(deposit) && !isOvertaken(deposit, others),
      // Of an attempt that came to nothing the transaction is not kept.
      executedOtherwise: deposit.return_tx_hash !== null,
      otherReturning: others.some(({ disposition }) => disposition === DEPOSIT_RETURNING),
    },
  };
}

type OrderState = Pick<OrderRow, 'direction' | 'status'>;

function hasEnded({ direction, status }: OrderState): boolean {
  return isTerminal(ORDER_MACHINES[direction], status);
}

/** The order has been paid out, or has ended without anything to pay. */
export function isEscrowFree(order: OrderState, escrow: OrderRow['facts']['escrow']): boolean {
  return escrow === 'emptied' || (escrow === 'none' && hasEnded(order));
}

/** What two owners have signed can be executed by any account, for as long as the escrow's nonce is not used. */
export function isSigned({ return_nonce }: Pick<DepositRow, 'return_nonce'>): boolean {
  return return_nonce !== null;
}

/** Another deposit has gone back with the nonce that this one was signed for: what was signed for it can never happen. */
export function isOvertaken(
  { return_nonce: nonce }: Pick<DepositRow, 'return_nonce'>,
  others: readonly Pick<DepositRow, 'disposition' | 'return_nonce'>[],
): boolean {
  return others.some((one) => one.disposition === DEPOSIT_RETURNED && one.return_nonce === nonce);
}

/** One intent an attempt. */
export function returnKey({ deposit_id: id }: Pick<DepositRow, 'deposit_id'>, attempt: number): string {
  return `${id}:${RETURN}:${attempt}`;
}

export function tokenOf({ tokens }: Pick<ChainSettings, 'tokens'>, token: Address) {
  return tokens.find(({ address }) => sameAddress(address, token));
}

/** Where the books keep what is in an escrow and not its order's. */
export const heldAccount = (orderId: string) => `held:${orderId}`;
const payerAccount = (address: Address) => `outside:payer:${address}`;

/** A token that the chain is not configured for is named by its address. */
function assetOf(settings: ChainSettings, token: Address): string {
  const known = tokenOf(settings, token);
  return known === undefined ? `${token}@${settings.chainId}` : `${known.code}@${settings.slug}`;
}

type Held = Pick<DepositRow, 'deposit_id' | 'order_id' | 'partner_id' | 'token' | 'sender'>;

/**
 * What came in. Anyone can log a transfer of an unknown token, so such a token is booked only when it is really
 * moved, and then with what was moved.
 */
export function heldEntry(deposit: Held, amount: bigint, settings: ChainSettings): EntryDraft {
  const asset = assetOf(settings, deposit.token);
  return entry(
    deposit,
    'deposit_held',
    moveFunds(payerAccount(deposit.sender), heldAccount(deposit.order_id), asset, amount),
  );
}

function entry(deposit: Held, kind: PostingKind, postings: EntryDraft['postings']): EntryDraft {
  return {
    kind,
    dedupeKey: `${deposit.deposit_id}:${kind}`,
    partnerId: deposit.partner_id,
    orderId: deposit.order_id,
    postings,
  };
}

type DepositAdapter = MachineAdapter<DepositCase, DepositStatus, DepositTrigger, DepositFacts, DepositGuard>;

const depositAdapter: DepositAdapter = {
  machine: depositMachine,
  statusOf: ({ deposit }) => deposit.disposition,
  factsOf: ({ facts }) => facts,

  write(unit, one, { status, transition }) {
    const deposit = { ...one.deposit, disposition: status };
    const { deposit_id: id } = deposit;
    if (transition.on === 'return_signed') {
      const { return_nonce: nonce, return_signature: signature, return_attempts: attempts } = deposit;
      unit.tx.defer(signDeposit, [id, status, nonce ?? '', signature ?? '', attempts]);
    } else {
      unit.tx.defer(setDeposit, [
        id,
        status,
        deposit.note,
        deposit.credited_amount,
        deposit.return_to,
        deposit.return_amount,
        deposit.return_nonce,
        deposit.return_signature,
        deposit.return_tx_hash,
        deposit.decided_at,
        deposit.return_attempts,
      ]);
    }
    return { ...one, deposit };
  },

  eventFor() {
    throw new Error('a deposit has no event of its own: its order has');
  },

  intentFor({ deposit }, effect) {
    if (effect !== RETURN) throw new Error(`a deposit does not start ${effect}`);
    return {
      kind: effect,
      dedupeKey: returnKey(deposit, deposit.return_attempts),
      partnerId: deposit.partner_id,
      payload: { order_id: deposit.order_id, deposit_id: deposit.deposit_id },
    };
  },

  entryFor(one, posting) {
    const { deposit, order, settings } = one;
    const held = heldAccount(deposit.order_id);
    const asset = assetOf(settings, deposit.token);
    switch (posting) {
      case 'deposit_held':
        return heldEntry(deposit, BigInt(deposit.amount), settings);
      case 'deposit_accepted': {
        if (order === null) throw new Error('it is accepted for an order');
        // The order books its funding from here, as if its seller had paid exactly.
        const seller =
          order.direction === 'onramp' ? `outside:vendor:${order.vendor_id}` : openerAccount(order);
        return entry(deposit, posting, moveFunds(held, seller, asset, BigInt(deposit.credited_amount)));
      }
      case 'deposit_returned': {
        const { return_to: payee, return_amount: amount } = deposit;
        if (payee === null || amount === null) throw new Error('it is not decided where it goes');
        return entry(deposit, posting, moveFunds(held, payerAccount(payee), asset, BigInt(amount)));
      }
      default:
        throw new Error(`a deposit does not book ${posting}`);
    }
  },
};

/** What the table says, without doing it. */
export function wouldMove(one: DepositCase, trigger: DepositTrigger, actor: DepositActor) {
  return decide(depositMachine, one.deposit.disposition, trigger, one.facts, actor);
}

export function requireMove(one: DepositCase, trigger: DepositTrigger, actor: DepositActor): void {
  const decision = wouldMove(one, trigger, actor);
  if (decision.kind === 'refused') throw refusal(one, decision.code, decision.guard, actor);
}

/** Reports something about a deposit whose order is locked; a refusal is thrown as the answer its reporter gets. */
export function moveDeposit(
  unit: UnitOfWork,
  one: DepositCase,
  trigger: DepositTrigger,
  actor: DepositActor,
): DepositRow {
  const execution = execute(unit, depositAdapter, one, trigger, actor);
  if (execution.kind !== 'refused') return execution.row.deposit;
  throw refusal(one, execution.code, execution.guard as DepositGuard | undefined, actor);
}

/** It was exact, and its order has no use for it. */
export function depositNotNeeded(
  unit: UnitOfWork,
  deposit: DepositRow,
  settings: ChainSettings,
  note: string,
): void {
  const one = { deposit: { ...deposit, note }, order: null, settings, facts: INITIAL_DEPOSIT_FACTS };
  moveDeposit(unit, one, 'not_needed', 'chain');
}

/** What to do instead, where the table says no more than that it cannot be done. */
const ADVICE: Partial<Record<DepositGuard, string>> = {
  own_token: 'It is not the token that the order trades; it can only be returned.',
  unknown_token: 'This is a token of the chain’s; return it.',
  nothing_credited: 'Part of it belongs to the order; the rest goes back.',
  order_awaits_funding: 'The order does not wait for a deposit any more; return it.',
  escrow_free:
    'The order may still need its escrow. It goes back after the order’s own payout, or once the order has been cancelled.',
  escrow_unused:
    'The escrow has paid something back already, so the order cannot use it; return this as well.',
  covered: 'What is held does not cover what the order needs: let the rest be paid, or return it.',
  unsigned: 'It is signed already and goes back; the signature cannot be taken back.',
  no_other_return: 'Another deposit of this escrow is on its way back; try again when it has arrived.',
};

/** By the names of the endpoints; an operator's decision is one of several. */
const ACTIONS: Partial<Record<DepositActor, Readonly<Record<string, DepositTrigger>>>> = {
  operator: {
    'decision:accept': 'acceptance_decided',
    'decision:return': 'return_decided',
    'decision:hold': 'decision_withdrawn',
    'decision:dismiss': 'dismissal_decided',
    signature: 'return_signed',
  },
  partner: { 'authorize-return': 'return_signed' },
};

function refusal(
  { deposit }: DepositCase,
  code: string,
  guard: DepositGuard | undefined,
  actor: DepositActor,
): CausewayError {
  const message = guard === undefined ? undefined : ADVICE[guard];
  if (guard !== undefined && message !== undefined) {
    return new CausewayError('OPERATION_NOT_ALLOWED', { message });
  }
  if (code === 'INVALID_STATUS') {
    return new CausewayError('INVALID_STATUS', {
      message: `The deposit is ${deposit.disposition.replaceAll('_', ' ')}, which does not allow this.`,
      details: {
        status: deposit.disposition,
        allowed_actions: actionsInStatus(depositMachine, deposit.disposition, actor, ACTIONS[actor] ?? {}),
      },
    });
  }
  return new CausewayError('OPERATION_NOT_ALLOWED');
}
