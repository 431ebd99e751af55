import { Kbd, Modal, Table } from '@mantine/core';
import type { CaseKeys } from './selection.ts';

type Key = readonly [keys: string, does: string];

/** Cases with something personal in them, and those whose pictures can be made larger. */
const PERSONAL = ['kyc', 'proof', 'recipient_screening', 'fiat_payment'];
const PICTURES = ['kyc', 'proof'];

/** Decisions by their own words: the same letter is another thing in another case. */
function keysOf({ kind, hasOrder, decisions }: CaseKeys): readonly Key[] {
  return [
    ['Enter', 'Go into the case'],
    ['C', 'Claim the case, or release it'],
    hasOrder ? ['1 2 3 4', 'Case, order, money, history'] : ['1 4', 'Case, history'],
    ...(PERSONAL.includes(kind) ? [['V', 'Reveal what is personal; it is audited'] as const] : []),
    ...(PICTURES.includes(kind) ? [['Z', 'Larger picture, and back'] as const] : []),
    ...decisions.map(({ key, label }): Key => [key, label]),
    ['N', 'Write a note'],
    ['Ctrl Enter', 'Confirm what is chosen'],
  ];
}

/** Every key that does something now. */
export default function Help({
  keys,
  onClose,
}: {
  readonly keys: CaseKeys | null;
  readonly onClose: () => void;
}) {
  const all: readonly Key[] = [
    ['J, K', 'Next case, the one before'],
    ...(keys === null ? [] : keysOf(keys)),
    ['U', 'Take it back, within five seconds'],
  ];
  return (
    <Modal
      opened
      onClose={onClose}
      title="Keys of the queue"
      closeButtonProps={{ 'aria-label': 'Close' }}
      centered
      data-testid="queue-keys"
    >
      <Table>
        <Table.Tbody>
          {all.map(([pressed, does]) => (
            <Table.Tr key={pressed}>
              <Table.Td>
                <Kbd>{pressed}</Kbd>
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
