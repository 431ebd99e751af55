import { Badge, Group, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleCall } from '../api/client.ts';
import { Action } from '../ui/actions.tsx';
import { Panel } from '../ui/panel.tsx';
import { Loaded } from '../ui/states.tsx';
import { Time } from '../ui/values.tsx';
import type { OwnSession } from './wire.ts';

const METHODS: Readonly<Record<OwnSession['method'], string>> = {
  password: 'password',
  totp: 'password and code',
  recovery_code: 'password and recovery code',
  passkey: 'passkey',
  sandbox: 'one click of the sandbox',
  invitation: 'invitation',
};

export function Sessions() {
  const sessions = useQuery({
    queryKey: ['own-sessions'],
    queryFn: ({ signal }) => consoleCall<{ sessions: readonly OwnSession[] }>('listOwnSessions', { signal }),
  });
  return (
    <Panel
      title="Sessions"
      about="Browsers in which you are signed in. A session that is not used ends by itself."
      testId="sessions-part"
    >
      <Loaded query={sessions}>
        {({ sessions: open }) => (
          <>
            <Table.ScrollContainer minWidth={520}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    {['Browser', 'Signed in', 'Last seen', 'Actions'].map((title) => (
                      <Table.Th key={title} scope="col" ta={title === 'Actions' ? 'end' : 'start'}>
                        {title}
                      </Table.Th>
                    ))}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {open.map((session) => (
                    <SessionRow key={session.session_id} session={session} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            {open.length < 2 ? null : (
              <Action
                variant="light"
                color="red"
                mt="sm"
                confirm="Everywhere but in this browser you have to sign in again."
                run={() => consoleCall('endOtherSessions', { body: {} })}
                done="All your other sessions are ended."
                testId="end-others"
              >
                End all others
              </Action>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function SessionRow({ session }: { readonly session: OwnSession }) {
  const { session_id, current, method, network, user_agent, created_at, seen_at } = session;
  return (
    <Table.Tr data-testid="session" data-current={current}>
      <Table.Td>
        <Group gap="xs">
          <span title={user_agent ?? undefined}>{browserOf(user_agent)}</span>
          {current ? (
            <Badge variant="light" color="teal" tt="none">
              this one
            </Badge>
          ) : null}
        </Group>
        {network}
      </Table.Td>
      <Table.Td>
        <Time at={created_at} /> by {METHODS[method]}
      </Table.Td>
      <Table.Td>
        <Time at={seen_at} age />
      </Table.Td>
      <Table.Td ta="end">
        {current ? null : (
          <Action
            variant="subtle"
            color="red"
            run={() => consoleCall('endOwnSession', { params: { session_id } })}
            done="The session is ended."
            testId="end-session"
          >
            End
          </Action>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

/** Enough to tell one’s own browsers apart; the whole text is on hover. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser';
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
