import { safe } from '@causeway/contracts';
import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Log } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Address, Hex, TokenTransfer } from '../chain-settings.ts';
import { type ExpectedExecution, readExecution } from './escrow-execution.ts';

const escrow: Address = '0x00000000000000000000000000000000000000e5';
const thirdParty: Address = '0x0000000000000000000000000000000000000055';
const token: Address = '0x00000000000000000000000000000000000000aa';
const safeTxHash: Hex = `0x${'1'.repeat(64)}`;
const transfers: TokenTransfer[] = [
  { token, to: '0x00000000000000000000000000000000000000bb', amount: 97n },
  { token, to: '0x00000000000000000000000000000000000000cc', amount: 3n },
];
const expected: ExpectedExecution = { escrow, safeTxHash, transfers };

function log(address: Address, topics: unknown, data: Hex): Log {
  return {
    address,
    topics: topics as Log['topics'],
    data,
    blockHash: safeTxHash,
    blockNumber: 1n,
    blockTimestamp: 1n,
    logIndex: 0,
    transactionHash: safeTxHash,
    transactionIndex: 0,
    removed: false,
  };
}

function transferLog({ token: address, to, amount }: TokenTransfer, from: Address = escrow): Log {
  const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } });
  return log(address, topics, encodeAbiParameters([{ type: 'uint256' }], [amount]));
}

function executionLog(
  txHash: Hex = safeTxHash,
  address: Address = escrow,
  eventName: 'ExecutionSuccess' | 'ExecutionFailure' = 'ExecutionSuccess',
): Log {
  const topics = encodeEventTopics({ abi: safe.abi, eventName, args: { txHash } });
  return log(address, topics, encodeAbiParameters([{ type: 'uint256' }], [0n]));
}

const read = (logs: Log[], status: 'success' | 'reverted' = 'success') =>
  readExecution({ status, logs: logs as never }, expected);
const exactLogs = transfers.map((transfer) => transferLog(transfer));

describe('an execution', () => {
  // Proves trap 17.
  test('succeeded with ExecutionSuccess and the exact transfers, whatever else the transaction did', () => {
    const foreign = transferLog({ token, to: escrow, amount: 5n }, thirdParty);
    expect(read([foreign, ...exactLogs, executionLog()])).toEqual({ succeeded: true });
  });

  test('is not spoilt by transfers of nothing, or of a third party’s own token, that its sender logs beside it', () => {
    const nothing = transferLog({ token, to: thirdParty, amount: 0n });
    const pretended = transferLog({ token: thirdParty, to: thirdParty, amount: 1_000n });
    expect(read([nothing, exactLogs[0]!, pretended, exactLogs[1]!, executionLog()])).toEqual({
      succeeded: true,
    });
  });

  test('failed when the transaction reverted', () => {
    expect(read([...exactLogs, executionLog()], 'reverted')).toEqual({
      succeeded: false,
      reason: 'reverted',
    });
  });

  // Proves trap 17.
  test.each([
    ['there is no ExecutionSuccess', []],
    ['it names another Safe transaction', [executionLog(`0x${'2'.repeat(64)}`)]],
    ['another contract says so', [executionLog(safeTxHash, thirdParty)]],
    ['the Safe reports a failure', [executionLog(safeTxHash, escrow, 'ExecutionFailure')]],
  ])('did not happen when %s', (_case, logs) => {
    expect(read([...exactLogs, ...logs])).toEqual({ succeeded: false, reason: 'not_executed' });
  });

  // Proves trap 17.
  test.each([
    ['a transfer is missing', exactLogs.slice(1)],
    ['nothing moved', []],
    ['there is one transfer more', [...exactLogs, transferLog({ token, to: thirdParty, amount: 1n })]],
    ['an amount differs', [exactLogs[0]!, transferLog({ ...transfers[1]!, amount: 4n })]],
    ['a recipient differs', [exactLogs[0]!, transferLog({ ...transfers[1]!, to: thirdParty })]],
    ['a token differs', [exactLogs[0]!, transferLog({ ...transfers[1]!, token: thirdParty })]],
    ['another wallet paid', [exactLogs[0]!, transferLog(transfers[1]!, thirdParty)]],
  ])('does not count when %s', (_case, logs) => {
    expect(read([...logs, executionLog()])).toEqual({ succeeded: false, reason: 'transfers_differ' });
  });
});
