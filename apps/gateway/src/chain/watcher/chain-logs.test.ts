import { encodeAbiParameters, encodeEventTopics, type Log, parseEventLogs } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../chain-settings.ts';
import { transferEvent, transferIn } from './chain-logs.ts';

const [FROM, TO, TOKEN] = [
  '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
  '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359',
] as const;
const topics = encodeEventTopics({
  abi: [transferEvent],
  args: { from: FROM, to: TO },
}) as unknown as Log['topics'];
const word = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value]);

const log = (fields: Partial<Log> = {}): Log => ({
  ...{ address: TOKEN, topics, data: word(7n), removed: false },
  ...{ transactionHash: word(1n), logIndex: 3, transactionIndex: 0, blockNumber: 9n, blockHash: word(2n) },
  ...fields,
});

describe('a transfer read from a log', () => {
  const [selector, from, to] = topics as unknown as [Hex, Hex, Hex];
  const cases: [string, Log][] = [
    ['a transfer', log()],
    ['of the largest amount', log({ data: word(2n ** 256n - 1n) })],
    ['of a collectible', log({ topics: [selector, from, to, word(7n)], data: '0x' })],
    ['of another event', log({ topics: [word(5n), from, to] })],
    ['without an addressee', log({ topics: [selector, from] })],
    ['without an amount', log({ data: '0x' })],
    ['without anything', log({ topics: [] })],
  ];

  test.each(cases)('%s is what the library reads from it', (_name, given) => {
    const expected = parseEventLogs({ abi: [transferEvent], logs: [given], strict: true });
    expect(transferIn(given).map(({ address, args }) => ({ address, args }))).toEqual(
      expected.map(({ address, args }) => ({ address, args })),
    );
  });

  test('has its place in the chain', () => {
    const { transactionHash, logIndex, blockNumber, blockHash } = log();
    expect(transferIn(log())).toMatchObject([{ transactionHash, logIndex, blockNumber, blockHash }]);
  });
});
