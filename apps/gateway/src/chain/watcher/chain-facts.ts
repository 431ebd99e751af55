import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';

/** What a final block says, in our terms. Facts of one chain are reported in the order the chain has them. */

interface FactLocation {
  readonly chainId: number;
  readonly txHash: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** Why a deposit is or is not the one an escrow waits for. Only an exact one funds an order. */
export type DepositKind = 'exact' | 'short' | 'excess' | 'double' | 'wrong_token' | 'foreign_sender';

export interface Deposit extends FactLocation {
  readonly type: 'deposit';
  readonly depositId: string;
  readonly kind: DepositKind;
  readonly escrow: Address;
  readonly orderId: string;
  readonly partnerId: string;
  readonly token: Address;
  readonly sender: Address;
  readonly amount: bigint;
}

/** A transaction of an order's escrow was executed. Which one it was, and what it moved, is told by its hash. */
export interface EscrowExecution extends FactLocation {
  readonly type: 'escrow_executed';
  readonly escrow: Address;
  readonly orderId: string;
  readonly partnerId: string;
  readonly safeTxHash: Hex;
}

/** A forward request was executed, by any account: its nonce is spent for good. */
export interface ForwardExecution extends FactLocation {
  readonly type: 'forward_executed';
  readonly signer: Address;
  readonly nonce: bigint;
  readonly succeeded: boolean;
}

/** The router paid a bridge solver. */
export interface BridgeDeposit extends FactLocation {
  readonly type: 'bridge_deposited';
  readonly bridgeQuoteId: Hex;
  readonly token: Address;
  readonly sender: Address;
  readonly solver: Address;
  readonly amount: bigint;
}

export type ChainFact = Deposit | EscrowExecution | ForwardExecution | BridgeDeposit;

/**
 * Told every final fact that concerns us, in the transaction that moves the watcher past it: what follows from a fact is
 * recorded with the fact or not at all. It may be told a fact again (never a deposit), and must not throw to refuse one.
 * Of executions it is told those that a signed request or a signed return waits for.
 */
export type ChainFactHandler = (fact: ChainFact, unit: UnitOfWork) => Promise<void>;

/** Told the deposits that are not exact, many at once: anyone can make thousands of them in a block. */
export type HeldDepositsHandler = (deposits: readonly Deposit[], unit: UnitOfWork) => void;

/** An address that belongs to an order, and what should be paid into it. */
export interface EscrowWatch {
  readonly address: Address;
  readonly orderId: string;
  readonly partnerId: string;
  readonly token: Address;
  readonly expectedAmount: bigint;
  readonly expectedSender: Address;
}

export function classifyDeposit(
  watch: Pick<EscrowWatch, 'token' | 'expectedAmount' | 'expectedSender'>,
  transfer: { readonly token: Address; readonly sender: Address; readonly amount: bigint },
  isAlreadyFunded: boolean,
): DepositKind {
  if (!sameAddress(transfer.token, watch.token)) return 'wrong_token';
  if (isAlreadyFunded) return 'double';
  if (!sameAddress(transfer.sender, watch.expectedSender)) return 'foreign_sender';
  if (transfer.amount < watch.expectedAmount) return 'short';
  return transfer.amount > watch.expectedAmount ? 'excess' : 'exact';
}

export function sameAddress(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
