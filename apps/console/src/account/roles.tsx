import {
  CAPABILITIES,
  type Capability,
  can,
  DESK_CAPABILITIES,
  type Desk,
  ROLE_MEANINGS,
  ROLES,
} from '@causeway/protocol/console';
import { Table, Text, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconMinus } from '@tabler/icons-react';

/** Drawn from the table that the server decides by. */
export function RolesMatrix({ desk }: { readonly desk: Desk }) {
  const capabilities = (Object.keys(CAPABILITIES) as Capability[]).filter((one) =>
    DESK_CAPABILITIES[desk].has(one),
  );
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table verticalSpacing="xs" data-testid="roles-matrix">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">May</Table.Th>
            {ROLES.map((role) => (
              <Table.Th key={role} scope="col" miw={110} style={{ verticalAlign: 'top' }}>
                {role}
                <Text size="xs" c="dimmed" fw={400}>
                  {ROLE_MEANINGS[role]}
                </Text>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {capabilities.map((capability) => (
            <Table.Tr key={capability}>
              <Table.Th scope="row" fw={400}>
                {CAPABILITIES[capability]}
              </Table.Th>
              {ROLES.map((role) => (
                <Table.Td key={role} data-cell={`${role} ${capability}`} data-may={can(role, capability)}>
                  {can(role, capability) ? (
                    <IconCheck size={18} color="var(--mantine-color-teal-7)" aria-hidden />
                  ) : (
                    <IconMinus size={18} opacity={0.4} aria-hidden />
                  )}
                  <VisuallyHidden>{can(role, capability) ? 'yes' : 'no'}</VisuallyHidden>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
