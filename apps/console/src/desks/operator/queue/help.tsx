import { Kbd, Modal, Table } from '@mantine/core';

const KEYS = [
  ['J, K', 'Next case, the one before'],
  ['Enter', 'Go into the case'],
  ['C', 'Claim the case, or release it'],
  ['1 2 3 4', 'Case, order, money, history'],
  ['V', 'Reveal what is personal; it is audited'],
  ['Z', 'Larger picture, and back'],
  ['A', 'Approve, accept, release, match, try again'],
  ['R', 'Reject, return, block, give up'],
  ['Q', 'Ask again, or the other way out'],
  ['E', 'Put the case off'],
  ['N', 'Write a note'],
  ['Ctrl Enter', 'Confirm what is chosen'],
  ['U', 'Take it back, within five seconds'],
] as const;

/** Every key of the queue. */
export default function Help({ onClose }: { readonly onClose: () => void }) {
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
          {KEYS.map(([keys, says]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{says}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
