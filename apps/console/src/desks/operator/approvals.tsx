import { type ConsoleOperation, mayCall } from '@causeway/protocol/console';
import type { Approval, ApprovalDetail } from '@causeway/sdk';
import { Alert, Anchor, Box, Button, Card, Group, SimpleGrid, Text, Title } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { Json } from '../../ui/code.tsx';
import { List } from '../../ui/list.tsx';
import { Link, useGo, usePath, useSearch } from '../../ui/navigation.tsx';
import { stringifySearch } from '../../ui/search.ts';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';

const STATUSES = ['waiting', 'approved', 'rejected', 'expired', 'failed'] as const;
type ApprovalStatus = (typeof STATUSES)[number];
const REFETCH_MS = 10_000;

/** Decisions that move much money and need a second person. The address names the one that is open. */
export default function Approvals() {
  const go = useGo();
  const path = usePath();
  const search = useSearch();
  const open = typeof search.approval === 'string' ? search.approval : undefined;
  const show = (approval: string | undefined) => go(path, { search: { ...search, approval } });
  return (
    <>
      <PageHead
        title="Approvals"
        about="Decisions that move much money are carried out when a second person agrees. A key counts as the person who made it."
      />
      {open === undefined ? null : <OpenApproval id={open} onClose={() => show(undefined)} />}
      <List<Approval>
        id="approvals"
        queryKey={['approvals']}
        refetchMs={REFETCH_MS}
        filters={[{ name: 'status', label: 'Status', kind: 'one', options: STATUSES }]}
        load={async ({ filters, limit, offset }, signal) => {
          const status = STATUSES.find((one): one is ApprovalStatus => one === filters.status);
          const query = { limit, offset, ...(status === undefined ? {} : { status }) };
          const { approvals, pagination } = await api.operator.approvals.list(query, { signal });
          return { rows: approvals, total: pagination.total };
        }}
        rowKey={(approval) => approval.approval_id}
        onOpen={(approval) => show(approval.approval_id)}
        columns={[
          {
            title: 'What happens',
            cell: (approval) => (
              <>
                <Anchor
                  component={Link}
                  to={path + stringifySearch({ ...search, approval: approval.approval_id })}
                  size="sm"
                  data-testid="open-approval"
                >
                  {approval.summary}
                </Anchor>
                <Text size="xs" c="dimmed" component="div">
                  <Subject subject={approval.subject} />
                </Text>
              </>
            ),
          },
          { title: 'Amount', end: true, cell: ({ amount_usd }) => <Amount usd={amount_usd} /> },
          { title: 'Asked by', cell: (approval) => <Asker approval={approval} /> },
          { title: 'Asked', cell: ({ requested_at }) => <Time at={requested_at} age /> },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
        ]}
        empty={
          <Empty title="Nothing waits for a second person">
            When somebody decides about more than the configured amount, it is shown here.
          </Empty>
        }
      />
    </>
  );
}

function Amount({ usd }: { readonly usd: string | null }) {
  if (usd === null)
    return (
      <Text span size="sm" c="dimmed">
        unknown
      </Text>
    );
  return <Money amount={usd} currency="USD" />;
}

function Asker({ approval }: { readonly approval: Approval }) {
  const { name, key_id } = approval.requested_by;
  if (approval.requested_by_you && key_id === null) return <>You</>;
  return (
    <>
      {key_id === null ? name : `Key “${name}”`}
      {approval.requested_by_you ? ' (yours)' : ''}
    </>
  );
}

function OpenApproval({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => api.operator.approvals.get(id, { signal }),
    refetchInterval: REFETCH_MS,
  });
  return (
    <Card withBorder mb="lg" data-testid="approval" data-approval={id}>
      <Loaded query={query}>
        {(approval) => (
          <>
            <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
              <div>
                <Title order={2} size="h4" data-testid="summary">
                  {approval.summary}
                </Title>
                <Group gap="xs" mt={4}>
                  <Status value={approval.status} />
                  <Text size="sm" fw={600} data-testid="amount">
                    <Amount usd={approval.amount_usd} />
                  </Text>
                </Group>
              </div>
              <Button variant="subtle" size="xs" onClick={onClose} data-testid="close-approval">
                Close
              </Button>
            </Group>
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <Box>
                <Facts approval={approval} />
                <Decision approval={approval} />
              </Box>
              <Json value={approval.call} label="The call that is carried out" />
            </SimpleGrid>
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Facts({ approval }: { readonly approval: ApprovalDetail }) {
  const { decided_by: decider } = approval;
  return (
    <Box component="dl" m={0}>
      <Fact label="About">
        <Subject subject={approval.subject} />
      </Fact>
      <Fact label="Asked by">
        <Asker approval={approval} />
      </Fact>
      <Fact label="Why">{approval.reason ?? 'not stated'}</Fact>
      <Fact label="Asked">
        <Time at={approval.requested_at} />
      </Fact>
      {approval.status === 'waiting' ? (
        <Fact label="Expires">
          <Time at={approval.expires_at} age />
        </Fact>
      ) : (
        <>
          <Fact label="Decided by">
            {decider === null ? '–' : decider.key_id === null ? decider.name : `Key “${decider.name}”`}
          </Fact>
          <Fact label="Reason">{approval.decision_reason ?? 'not stated'}</Fact>
          <Fact label="Decided">
            <Time at={approval.decided_at} />
          </Fact>
        </>
      )}
      <Fact label="Hash of the call">
        <Id value={approval.payload_hash} name="hash" />
      </Fact>
    </Box>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  orders: 'Order',
  deposits: 'Deposit',
  'fiat-payments': 'Payment',
};

function Subject({ subject }: { readonly subject: string }) {
  const [kind = '', id = ''] = subject.split('/');
  return (
    <>
      {KINDS[kind] ?? kind}{' '}
      <Id value={id} name="id" {...(kind === 'orders' ? { to: `/operator/orders/${id}` } : {})} />
    </>
  );
}

function Decision({ approval }: { readonly approval: ApprovalDetail }) {
  const { role } = useSession().user;
  const { approval_id: id, operation, requested_by_you: isOwn } = approval;
  if (approval.status === 'failed') {
    return (
      <Alert
        color="orange"
        mt="md"
        title="It could not be carried out any more"
        data-testid="not-carried-out"
      >
        Answered with {approval.error_code}. Look at what it is about, and decide anew.
      </Alert>
    );
  }
  if (approval.status !== 'waiting') return null;
  const mayDecide = mayCall(role, 'approveApproval') && mayCall(role, operation as ConsoleOperation);
  if (!mayDecide) {
    return (
      <Alert color="gray" mt="md" title="Your role cannot decide this" data-testid="may-not-decide">
        Ask somebody of finance, or an admin.
      </Alert>
    );
  }
  const reject = (reason: string) => api.operator.approvals.reject(id, { reason });
  if (isOwn) {
    return (
      <Alert
        color="blue"
        mt="md"
        icon={<IconUsers />}
        title="Another person has to approve this"
        data-testid="own-request"
      >
        <Text size="sm" mb="sm">
          You asked for it, so you cannot approve it. You can withdraw it.
        </Text>
        <Action variant="default" run={reject} done="Withdrawn" reason testId="withdraw">
          Withdraw
        </Action>
      </Alert>
    );
  }
  return (
    <Group mt="md">
      <Action
        run={() => api.operator.approvals.approve(id, {})}
        done="Approved and carried out"
        confirm={<>{approval.summary} It is carried out at once, and both of you are on record.</>}
        testId="approve"
      >
        Approve
      </Action>
      <Action color="red" variant="light" run={reject} done="Rejected" reason testId="reject">
        Reject
      </Action>
    </Group>
  );
}
