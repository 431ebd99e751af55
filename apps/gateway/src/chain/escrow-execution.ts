import { safe } from '@causeway/contracts';
import { erc20Abi, isAddressEqual, parseEventLogs, type TransactionReceipt } from 'viem';
import type { Address, Hex, TokenTransfer } from './chain-settings.ts';

/**
 * Reads what an execution of an escrow really did. A mined transaction proves nothing by itself: a token may answer
 * false and move nothing, and anyone may have executed something else. Success is the Safe's own ExecutionSuccess for
 * this very transaction together with exactly the expected movements out of the escrow, no more and no fewer.
 */

export interface ExpectedExecution {
  escrow: Address;
  safeTxHash: Hex;
  transfers: readonly TokenTransfer[];
}

export type ExecutionReading =
  | { succeeded: true }
  | { succeeded: false; reason: 'reverted' | 'not_executed' | 'transfers_differ' };

export function readExecution(
  receipt: Pick<TransactionReceipt, 'status' | 'logs'>,
  expected: ExpectedExecution,
): ExecutionReading {
  if (receipt.status !== 'success') return { succeeded: false, reason: 'reverted' };
  if (!wasExecuted(receipt, expected)) return { succeeded: false, reason: 'not_executed' };
  const moved = transfersOutOf(receipt, expected.escrow);
  const isExact =
    moved.length === expected.transfers.length &&
    expected.transfers.every((transfer, position) => isSameTransfer(transfer, moved[position]));
  return isExact ? { succeeded: true } : { succeeded: false, reason: 'transfers_differ' };
}

function wasExecuted({ logs }: Pick<TransactionReceipt, 'logs'>, expected: ExpectedExecution): boolean {
  const successes = parseEventLogs({ abi: safe.abi, eventName: 'ExecutionSuccess', logs });
  return successes.some(
    ({ address, args }) => isAddressEqual(address, expected.escrow) && args.txHash === expected.safeTxHash,
  );
}

function transfersOutOf({ logs }: Pick<TransactionReceipt, 'logs'>, escrow: Address): TokenTransfer[] {
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })
    .filter(({ args }) => isAddressEqual(args.from, escrow))
    .map(({ address, args }) => ({ token: address, to: args.to, amount: args.value }));
}

function isSameTransfer(expected: TokenTransfer, actual: TokenTransfer | undefined): boolean {
  return (
    actual !== undefined &&
    isAddressEqual(expected.token, actual.token) &&
    isAddressEqual(expected.to, actual.to) &&
    expected.amount === actual.amount
  );
}
