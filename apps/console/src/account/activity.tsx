import { OPERATION_CAPABILITIES } from '@causeway/protocol/console';
import { Code, Text } from '@mantine/core';
import { consoleCall } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { given, periodOf, textOf } from '../ui/filters.ts';
import { List } from '../ui/list.tsx';
import { Time } from '../ui/values.tsx';
import type { Activity, ActivityPage, TeamMember } from './wire.ts';

const SIGN_INS: Readonly<Record<string, string>> = {
  sign_in_password: 'Signed in with the password',
  sign_in_totp: 'Signed in with password and code',
  sign_in_recovery_code: 'Signed in with a recovery code',
  sign_in_passkey: 'Signed in with a passkey',
  sign_in_sandbox: 'Entered by one click of the sandbox',
  sign_in_invitation: 'Accepted an invitation',
  sign_in_failed: 'Was refused the sign-in',
  sign_in_locked: 'Was locked out',
};

/** `changeTeamMember` → `Change team member`: the verbs of the API are business verbs already. */
export function operationInWords(operation: string): string {
  const known = SIGN_INS[operation];
  if (known !== undefined) return known;
  const words = operation
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Reading leaves no trace here; what may change something does. */
const READS = /^(get|list|search|estimate|export)/;
const OPERATIONS = [
  ...Object.keys(SIGN_INS),
  ...Object.keys(OPERATION_CAPABILITIES)
    .filter((operation) => !READS.test(operation))
    .toSorted(),
].map((value) => ({ value, label: operationInWords(value) }));

/** Who did what at this desk, newest first. */
export default function ActivityList({ members }: { readonly members: readonly TeamMember[] }) {
  const { desk } = useSession();
  return (
    <List<Activity>
      id="activity"
      queryKey={['console-activity']}
      filters={[
        {
          name: 'user_id',
          label: 'Who',
          kind: 'one',
          options: members.map(({ user_id, name, email }) => ({
            value: user_id,
            label: `${name} (${email})`,
          })),
        },
        { name: 'operation', label: 'What', kind: 'one', options: OPERATIONS },
        { name: 'from', label: 'From', kind: 'date' },
        { name: 'to', label: 'To', kind: 'date' },
      ]}
      load={async ({ filters, limit, cursor }, signal) => {
        const page = await consoleCall<ActivityPage>('listConsoleActivity', {
          query: given({
            limit,
            cursor,
            user_id: textOf(filters, 'user_id'),
            operation: textOf(filters, 'operation'),
            ...periodOf(filters),
          }),
          signal,
        });
        return { rows: page.activity, nextCursor: page.pagination.next_cursor };
      }}
      rowKey={({ activity_id }) => activity_id}
      columns={[
        { title: 'When', cell: ({ at }) => <Time at={at} /> },
        {
          title: 'Who',
          cell: ({ user }) =>
            user === null ? (
              <Text span inherit c="dimmed">
                nobody known
              </Text>
            ) : (
              <span title={user.email}>{user.name}</span>
            ),
        },
        // An operator’s admins see every desk.
        ...(desk === 'operator'
          ? [{ title: 'Desk', cell: ({ desk: one, owner_name }: Activity) => owner_name ?? one }]
          : []),
        {
          title: 'What',
          cell: ({ operation, path }) => (
            <>
              <span data-operation={operation}>{operationInWords(operation)}</span>
              {path === null ? null : (
                <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {path.replace('/api/v1', '')}
                </Text>
              )}
            </>
          ),
        },
        { title: 'Outcome', cell: ({ status_code: status }) => <Outcome status={status} /> },
        { title: 'From', cell: ({ network }) => network ?? '–' },
      ]}
      empty="Nobody did anything that fits"
    />
  );
}

const DONE = 'light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-3))';
const REFUSED = 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-3))';

function Outcome({ status }: { readonly status: number | null }) {
  if (status === null)
    return (
      <Text span inherit>
        not known
      </Text>
    );
  const isDone = status < 400;
  return (
    <Text span inherit c={isDone ? DONE : REFUSED} style={{ whiteSpace: 'nowrap' }}>
      {isDone ? 'done' : 'refused'} <Code>{status}</Code>
    </Text>
  );
}
