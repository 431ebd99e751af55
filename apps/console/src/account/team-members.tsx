import { ROLE_MEANINGS, ROLES, type Role } from '@causeway/protocol/console';
import { Badge, Button, Group, Menu, Modal, Radio, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDots } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { Problem } from '../ui/states.tsx';
import { Status, Time } from '../ui/values.tsx';
import type { TeamMember } from './wire.ts';

const FACTORS = { totp: 'app', passkey: 'passkey' } as const;

export function Members({ members }: { readonly members: readonly TeamMember[] }) {
  const may = useMay();
  const mayChange = may('changeTeamMember');
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing="xs" data-testid="members">
        <Table.Thead>
          <Table.Tr>
            {['Name', 'Role', 'Second factor', 'Last sign-in', 'Sessions'].map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
            {mayChange ? (
              <Table.Th scope="col" ta="end">
                Actions
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((member) => (
            <MemberRow key={member.user_id} member={member} mayChange={mayChange} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function MemberRow({ member, mayChange }: { readonly member: TeamMember; readonly mayChange: boolean }) {
  const { name, email, role, is_self: isSelf, second_factor: factors } = member;
  return (
    <Table.Tr data-testid="member" data-email={email}>
      <Table.Td>
        <Group gap="xs">
          <span>{name}</span>
          {isSelf ? (
            <Badge variant="light" tt="none">
              you
            </Badge>
          ) : null}
          {member.disabled_at === null ? null : <Status value="disabled" />}
          {member.locked_until === null ? null : (
            <Badge variant="light" color="orange" tt="none" title={`until ${member.locked_until}`}>
              locked out
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {email}
        </Text>
      </Table.Td>
      <Table.Td data-testid="role" title={ROLE_MEANINGS[role]}>
        {role}
      </Table.Td>
      <Table.Td>
        {factors.length === 0 ? (
          <Text span inherit c="dimmed">
            none
          </Text>
        ) : (
          factors.map((factor) => FACTORS[factor]).join(', ')
        )}
      </Table.Td>
      <Table.Td>
        <Time at={member.last_signed_in_at} age />
      </Table.Td>
      <Table.Td data-testid="open-sessions">{member.open_sessions}</Table.Td>
      {mayChange ? <Table.Td ta="end">{isSelf ? null : <MemberMenu member={member} />}</Table.Td> : null}
    </Table.Tr>
  );
}

/** What can be done to a member, each behind a dialog that says what will happen. */
type Change = 'role' | 'disable' | 'enable' | 'factor' | 'sessions';

function MemberMenu({ member }: { readonly member: TeamMember }) {
  const [open, setOpen] = useState<Change | null>(null);
  const isDisabled = member.disabled_at !== null;
  const items: readonly (readonly [Change, string, boolean])[] = [
    ['role', 'Change the role', true],
    ['sessions', 'End all sessions', member.open_sessions > 0],
    ['factor', 'Reset the second factor', member.second_factor.length > 0],
    isDisabled ? ['enable', 'Let in again', true] : ['disable', 'Disable', true],
  ];
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconDots size={14} aria-hidden />}
            data-testid="member-menu"
            aria-label={`Change ${member.name}`}
          >
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {items.map(([change, label, isUseful]) => (
            <Menu.Item
              key={change}
              disabled={!isUseful}
              onClick={() => setOpen(change)}
              data-testid={`member-${change}`}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {open === null ? null : <ChangeDialog member={member} change={open} onClose={() => setOpen(null)} />}
    </>
  );
}

interface Wording {
  readonly title: string;
  readonly about: ReactNode;
  readonly button: string;
  readonly done: string;
}

function wordingOf(change: Change, { name }: TeamMember): Wording {
  switch (change) {
    case 'role':
      return {
        title: `Role of ${name}`,
        about: 'It counts from the next click on.',
        button: 'Change the role',
        done: 'The role is changed.',
      };
    case 'disable':
      return {
        title: `Disable ${name}`,
        about: `${name} is signed out everywhere at once and cannot sign in until you let them in again. What they did stays on record. If they have forgotten the password, invite the same address afterwards: they choose a new one and keep their second factor.`,
        button: 'Disable',
        done: `${name} is disabled.`,
      };
    case 'enable':
      return {
        title: `Let ${name} in again`,
        about: 'They sign in as before, with the same role.',
        button: 'Let in again',
        done: `${name} can sign in again.`,
      };
    case 'factor':
      return {
        title: `Reset the second factor of ${name}`,
        about: `Authenticator app, recovery codes and passkeys of ${name} are removed and all sessions ended. Make sure that it is really ${name} who asks.`,
        button: 'Reset',
        done: 'The second factor is reset.',
      };
    default:
      return {
        title: `End all sessions of ${name}`,
        about: `${name} has to sign in again everywhere.`,
        button: 'End all',
        done: 'The sessions are ended.',
      };
  }
}

function callOf(change: Change, { user_id }: TeamMember, role: Role): Promise<unknown> {
  const params = { user_id };
  switch (change) {
    case 'role':
      return consoleCall('changeTeamMember', { params, body: { role } });
    case 'factor':
      return consoleCall('resetMemberSecondFactor', { params, body: {} });
    case 'sessions':
      return consoleCall('endMemberSessions', { params, body: {} });
    default:
      return consoleCall('changeTeamMember', { params, body: { disabled: change === 'disable' } });
  }
}

function ChangeDialog({
  member,
  change,
  onClose,
}: {
  readonly member: TeamMember;
  readonly change: Change;
  readonly onClose: () => void;
}) {
  const [role, setRole] = useState(member.role);
  const client = useQueryClient();
  const { title, about, button, done } = wordingOf(change, member);
  const run = useMutation({
    mutationFn: () => callOf(change, member, role),
    onSuccess: async () => {
      onClose();
      notifications.show({ message: done, color: 'teal' });
      await client.invalidateQueries();
    },
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{about}</Text>
          {change === 'role' ? <RoleChoice role={role} onChange={setRole} /> : null}
          {run.isError ? <Problem error={run.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={change === 'disable' || change === 'factor' ? 'red' : undefined}
              loading={run.isPending}
              disabled={change === 'role' && role === member.role}
              data-testid="confirm"
            >
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Each role with its meaning, so that nobody has to know them by heart. */
export function RoleChoice({
  role,
  onChange,
}: {
  readonly role: Role;
  readonly onChange: (role: Role) => void;
}) {
  return (
    <Radio.Group label="Role" value={role} onChange={(chosen) => onChange(chosen as Role)}>
      <Stack gap="xs" mt={4}>
        {ROLES.map((one) => (
          <Radio
            key={one}
            value={one}
            label={one}
            description={ROLE_MEANINGS[one]}
            data-testid={`role-${one}`}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}
