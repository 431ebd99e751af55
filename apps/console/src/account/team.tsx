import { ROLE_MEANINGS } from '@causeway/protocol/console';
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleCall } from '../api/client.ts';
import { useCan, useMay, useSession } from '../api/session.ts';
import { useListSearch } from '../ui/list.tsx';
import { Empty, Loaded, PageHead } from '../ui/states.tsx';
import ActivityList from './activity.tsx';
import { Invitations, Invite } from './invitations.tsx';
import { RolesMatrix } from './roles.tsx';
import { Members } from './team-members.tsx';
import type { TeamAnswer } from './wire.ts';

const TABS = ['members', 'invitations', 'roles', 'activity'] as const;

/** Who signs in at this desk, what each may do, and who did what. */
export default function Team() {
  const team = useQuery({
    queryKey: ['team'],
    queryFn: ({ signal }) => consoleCall<TeamAnswer>('getTeam', { signal }),
  });
  const { desk, user } = useSession();
  const may = useMay();
  const mayManage = useCan('team.manage');
  const [search, change] = useListSearch();
  const tab = TABS.find((one) => one === search.tab) ?? 'members';
  return (
    <>
      <PageHead title="Team" about={`You are ${user.role}: ${ROLE_MEANINGS[user.role].toLowerCase()}.`}>
        {may('inviteToTeam') ? <Invite /> : null}
      </PageHead>
      <Loaded query={team}>
        {({ members, invitations }) => (
          <Tabs
            value={tab}
            onChange={(chosen) =>
              // Filters are of one tab only.
              change({
                ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
                tab: chosen === null || chosen === 'members' ? undefined : chosen,
              })
            }
            keepMounted={false}
          >
            <Tabs.List mb="md">
              <Tabs.Tab value="members" data-testid="tab-members">
                Members ({members.length})
              </Tabs.Tab>
              <Tabs.Tab value="invitations" data-testid="tab-invitations">
                Open invitations ({invitations.length})
              </Tabs.Tab>
              <Tabs.Tab value="roles" data-testid="tab-roles">
                Roles
              </Tabs.Tab>
              {mayManage ? (
                <Tabs.Tab value="activity" data-testid="tab-activity">
                  Activity
                </Tabs.Tab>
              ) : null}
            </Tabs.List>
            <Tabs.Panel value="members">
              <Members members={members} />
            </Tabs.Panel>
            <Tabs.Panel value="invitations">
              <Invitations invitations={invitations} />
            </Tabs.Panel>
            <Tabs.Panel value="roles">
              <RolesMatrix desk={desk} />
            </Tabs.Panel>
            <Tabs.Panel value="activity">
              {mayManage ? (
                <ActivityList members={members} />
              ) : (
                <Empty title="Only an admin sees who did what">Ask an admin of your team.</Empty>
              )}
            </Tabs.Panel>
          </Tabs>
        )}
      </Loaded>
    </>
  );
}
