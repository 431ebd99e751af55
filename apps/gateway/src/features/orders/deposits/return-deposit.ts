import {
  CausewayError,
  type DepositReturnParametersSchema,
  guardsHold,
  ORDER_MACHINES,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import {
  acceptOwnerSignature,
  type EscrowOwner,
  typedDataToSign,
} from '../../../chain/authorization/accept-authorization.ts';
import type { Address, ChainSettings, Hex, TokenTransfer } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import type { Escrow } from '../../../chain/escrow/escrow.ts';
import { nonceFate } from '../../../chain/escrow/escrow-execution.ts';
import {
  hashSafeTransaction,
  payoutTransaction,
  type SafeTransaction,
} from '../../../chain/escrow/safe-transaction.ts';
import { type Scope, SYSTEM } from '../../../db/database.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { refuseLostWallets } from '../../screening/screen-wallet.ts';
import { type DepositRow, depositsOfOrder } from '../escrow/escrow.store.ts';
import { escrowOf } from '../escrow/escrow.ts';
import { factsOf } from '../lifecycle/order.adapter.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import { type DepositDeps, loadDeposit, lockDeposit, readEscrowNonce } from './decide-deposit.ts';
import { type DepositActor, depositCase, isOvertaken, moveDeposit, requireMove } from './deposit.adapter.ts';

/** The Safe's own transaction that pays one deposit back: what two owners sign. */
export interface DepositReturn {
  readonly escrow: Escrow;
  readonly transfers: readonly [TokenTransfer];
  readonly transaction: SafeTransaction;
  readonly hash: Hex;
}

export function returnOf(
  settings: ChainSettings,
  order: OrderRow,
  deposit: DepositRow,
  nonce: bigint,
): DepositReturn {
  const { return_to: to, return_amount: amount, token } = deposit;
  if (to === null || amount === null) throw new Error('it is not decided where the deposit goes');
  const escrow = escrowOf(settings, order);
  const transfers = [{ token, to, amount: BigInt(amount) }] as const;
  const transaction = payoutTransaction(transfers, settings.contracts.multiSendCallOnly, nonce);
  return { escrow, transfers, transaction, hash: hashSafeTransaction(escrow, transaction) };
}

/** Who signs, beside the service: either of the order's two sides. */
export interface ReturnSigner {
  readonly actor: Extract<DepositActor, 'partner' | 'vendor' | 'operator'>;
  readonly scope: Scope;
  readonly owners: readonly EscrowOwner[] | 'partner';
}

function ownersOf({ owners }: ReturnSigner, order: OrderRow): readonly EscrowOwner[] {
  if (owners !== 'partner') return owners;
  return order.direction === 'onramp' ? ['buyer'] : ['seller'];
}

/** What has to be asked of the chain before anything is locked. */
export interface ReturnSight {
  /** The nonce that a signature has to be of. */
  readonly nonce: bigint;
  readonly mayHaveHappened: boolean;
}

/** The deposit is one that the signer may act on at all: a partner does not act on orders of its widget. */
export async function requireDepositToSign(
  deps: Pick<DepositDeps, 'db'>,
  { actor, scope }: ReturnSigner,
  depositId: string,
) {
  const found = await loadDeposit(deps, scope, depositId);
  const machine = ORDER_MACHINES[found.order.direction];
  if (!guardsHold(machine, machine.before.actor?.[actor], factsOf(found.order))) {
    throw new CausewayError('DEPOSIT_NOT_FOUND');
  }
  return found;
}

/** What can be told without the chain is told without it. */
export async function requireSignable(deps: DepositDeps, signer: ReturnSigner, depositId: string) {
  const { deposit, order } = await requireDepositToSign(deps, signer, depositId);
  const { settings } = deps.chains.get(order.chain);
  const all = await deps.db.query(signer.scope, depositsOfOrder, [order.order_id]);
  const others = all.filter(({ deposit_id }) => deposit_id !== deposit.deposit_id);
  const around = { settings, order, others, nonce: 0n, covers: false, surplus: 0n };
  requireMove(depositCase(deposit, around), 'return_signed', signer.actor);
  return { deposit, order, settings };
}

async function readSight(deps: DepositDeps, order: OrderRow, deposit: DepositRow): Promise<ReturnSight> {
  const nonce = await readEscrowNonce(deps.chains, order, deposit.address);
  return { nonce, mayHaveHappened: await mayHaveHappened(deps, order, deposit, nonce) };
}

export async function lookBeforeSigning(
  deps: DepositDeps,
  signer: ReturnSigner,
  depositId: string,
): Promise<ReturnSight> {
  const { deposit, order } = await requireDepositToSign(deps, signer, depositId);
  return readSight(deps, order, deposit);
}

function requireUnhappened({ mayHaveHappened: isUnsure }: ReturnSight): void {
  if (!isUnsure) return;
  throw new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'An earlier attempt may have been executed; try again in a moment.',
  });
}

/**
 * Whether an attempt that was signed before and did not get through was executed all the same. With the same
 * nonce it does not matter, because only one can happen; with a later one it would be paid twice.
 */
async function mayHaveHappened(
  { db, chains }: DepositDeps,
  order: OrderRow,
  deposit: DepositRow,
  nonce: bigint,
): Promise<boolean> {
  if (deposit.return_nonce === null || nonce <= BigInt(deposit.return_nonce)) return false;
  // Two returns of the same amount to the same payee with the same nonce are one transaction: it was the other's.
  if (isOvertaken(deposit, await db.query(SYSTEM, depositsOfOrder, [order.order_id]))) return false;
  const { settings, client } = chains.get(order.chain);
  const { escrow, hash, transaction } = returnOf(settings, order, deposit, BigInt(deposit.return_nonce));
  const fate = await nonceFate(db, { settings, client }, escrow.address, hash, transaction.nonce);
  return fate.kind !== 'used_otherwise';
}

export async function depositReturnParameters(
  deps: DepositDeps,
  signer: ReturnSigner,
  depositId: string,
): Promise<Static<typeof DepositReturnParametersSchema>> {
  const { deposit, order, settings } = await requireSignable(deps, signer, depositId);
  const sight = await readSight(deps, order, deposit);
  requireUnhappened(sight);
  const { escrow, transfers, transaction, hash } = returnOf(settings, order, deposit, sight.nonce);
  const [{ token, to, amount }] = transfers;
  return {
    deposit_id: deposit.deposit_id,
    order_id: order.order_id,
    chain_id: escrow.chainId,
    rpc_url: settings.publicRpcUrl,
    escrow_address: escrow.address,
    token_address: token,
    amount_atomic: `${amount}`,
    recipient_address: to,
    signer_addresses: ownersOf(signer, order).map((owner): Address => escrow.parties[owner]),
    safe_tx_hash: hash,
    typed_data: typedDataToSign(escrow, transaction),
  };
}

/**
 * Takes the signature of an owner and starts the return. Where the escrow's nonce has moved on since the parameters were
 * read, the signature is of another transaction and does not fit.
 */
export async function signDepositReturn(
  { chains }: { readonly chains: Chains },
  unit: UnitOfWork,
  signer: ReturnSigner,
  depositId: string,
  signature: string,
  sight: ReturnSight,
): Promise<{ readonly before: DepositRow; readonly after: DepositRow }> {
  const { order, deposit: before, others } = await lockDeposit(unit, depositId);
  const { settings } = chains.get(order.chain);
  const { nonce } = sight;
  const one = depositCase(before, { settings, order, others, nonce, covers: false, surplus: 0n });
  requireMove(one, 'return_signed', signer.actor);
  // Another's return may have used the nonce since it was read.
  const isUsed = isOvertaken({ return_nonce: `${nonce}` }, others);
  requireUnhappened({ ...sight, mayHaveHappened: sight.mayHaveHappened || isUsed });
  await refuseLostWallets(unit, [before.return_to ?? '']);
  const { escrow, hash } = returnOf(settings, order, before, nonce);
  const accepted = await acceptOwnerSignature(escrow, hash, ownersOf(signer, order), signature);
  const signed = {
    ...before,
    return_nonce: `${nonce}`,
    return_signature: accepted.signature,
    return_attempts: before.return_attempts + 1,
  };
  const after = moveDeposit(unit, { ...one, deposit: signed }, 'return_signed', signer.actor);
  return { before, after };
}
