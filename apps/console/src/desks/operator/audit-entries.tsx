import type { AuditList as AuditPage } from '@causeway/sdk';
import { Box, Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { api } from '../../api/client.ts';
import { given, periodOf, textOf } from '../../ui/filters.ts';
import { type Filter, List } from '../../ui/list.tsx';
import { Link } from '../../ui/navigation.tsx';
import { Time } from '../../ui/values.tsx';

type State = Readonly<Record<string, unknown>> | null;

export interface AuditEntryShown {
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string };
  readonly action: string;
  readonly reason: string;
  readonly before: State;
  readonly after: State;
  readonly at: string;
}

/** What operators do, in the words of their work. */
const VERBS: Readonly<Record<string, string>> = {
  'order.hold.place': 'Held the order',
  'order.hold.release': 'Released the hold',
  'order.hold.release_without_kyc': 'Released the hold without KYC',
  'order.dispute.open': 'Opened a dispute',
  'order.dispute.for_buyer': 'Decided for the buyer',
  'order.dispute.for_seller': 'Decided for the seller',
  'order.escrow-signature.release': 'Handed in a signature to pay out',
  'order.escrow-signature.refund': 'Handed in a signature to pay back',
  'order.send-out.settled': 'Confirmed a send-out',
  'order.send-out.failed': 'Declared a send-out failed',
  'partner.create': 'Created the partner',
  'partner.change': 'Changed the partner',
  'vendor.create': 'Created the vendor',
  'vendor.change': 'Changed the vendor',
  'key.create': 'Created a key',
  'key.revoke': 'Revoked a key',
  'webhook.replay': 'Sent webhooks again',
  'effect.retry': 'Tried work again',
  'effect.give-up': 'Gave work up',
  'reference.add': 'Added to the catalogue',
  'reference.replace': 'Changed the catalogue',
  'offer.authorize': 'Authorized an offer',
  'offer.revoke': 'Took an offer’s authorization back',
};

export function verbOf(action: string): string {
  const known = VERBS[action];
  if (known !== undefined) return known;
  const words = action.replaceAll(/[._-]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const PAGES: Readonly<Record<string, string>> = {
  orders: 'orders',
  partners: 'partners',
  vendors: 'vendors',
};

/** What it was done to, with a link where there is a page for it. */
export function Subject({ subject }: { readonly subject: string }) {
  const [kind = '', id = ''] = subject.split('/');
  const page = PAGES[kind];
  const shown = id.length > 14 ? `${kind}/${id.slice(0, 8)}…` : subject;
  const code = <Code title={subject}>{shown}</Code>;
  return page === undefined ? code : <Link to={`/operator/${page}/${id}`}>{code}</Link>;
}

function written(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Difference {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Field by field what was changed; what stayed the same is left out. */
export function differences(before: State, after: State): readonly Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name) => ({ name, before: before?.[name], after: after?.[name] }))
    .filter((one) => written(one.before) !== written(one.after));
}

const SHOWN_AT_ONCE = 4;

export function Changes({ before, after }: { readonly before: State; readonly after: State }) {
  const [isWhole, { open }] = useDisclosure(false);
  const changed = differences(before, after);
  if (changed.length === 0)
    return (
      <Text span c="dimmed" size="sm">
        –
      </Text>
    );
  const shown = isWhole ? changed : changed.slice(0, SHOWN_AT_ONCE);
  return (
    <Stack gap={2} data-testid="changes">
      {shown.map(({ name, before: was, after: is }) => (
        <Box key={name} fz="xs" style={{ overflowWrap: 'anywhere' }}>
          <Text span fz="xs" fw={600}>
            {name}
          </Text>{' '}
          {before === null || was === undefined ? null : (
            <>
              <Text span fz="xs" td="line-through" c="dimmed">
                {written(was)}
              </Text>{' '}
              →{' '}
            </>
          )}
          <Text span fz="xs">
            {is === undefined ? 'removed' : written(is)}
          </Text>
        </Box>
      ))}
      {isWhole || changed.length <= SHOWN_AT_ONCE ? null : (
        <Group>
          <Button size="compact-xs" variant="subtle" onClick={open}>
            {changed.length - SHOWN_AT_ONCE} more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

export function Actor({ actor }: { readonly actor: AuditEntryShown['actor'] }) {
  return (
    <Text size="sm" title={actor.id}>
      {actor.name}
      <Text span size="xs" c="dimmed">
        {actor.kind === 'key' ? ' (key)' : ''}
      </Text>
    </Text>
  );
}

/** Entries that are there already, as on an order’s page. */
export function AuditTable({ entries }: { readonly entries: readonly AuditEntryShown[] }) {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table verticalSpacing="xs" data-testid="audit">
        <Table.Thead>
          <Table.Tr>
            {['When', 'Who', 'What', 'Why', 'Before and after'].map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={`${entry.at} ${entry.action} ${entry.reason}`}>
              <Table.Td>
                <Time at={entry.at} />
              </Table.Td>
              <Table.Td>
                <Actor actor={entry.actor} />
              </Table.Td>
              <Table.Td title={entry.action}>{verbOf(entry.action)}</Table.Td>
              <Table.Td>{entry.reason}</Table.Td>
              <Table.Td>
                <Changes before={entry.before} after={entry.after} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const FILTERS: readonly Filter[] = [
  { name: 'search', label: 'Words in the reason', kind: 'text' },
  { name: 'actor', label: 'Who', kind: 'text' },
  { name: 'action', label: 'Action begins with', kind: 'text' },
  { name: 'from', label: 'From day', kind: 'date' },
  { name: 'to', label: 'To day', kind: 'date' },
];
const SUBJECT: Filter = { name: 'subject', label: 'Subject', kind: 'text' };

/** The audit log: of everything, or of one subject where that is given. */
export function AuditList({ subject }: { readonly subject?: string }) {
  return (
    <List<AuditPage['entries'][number]>
      id="audit-list"
      queryKey={['operator', 'audit', subject]}
      filters={subject === undefined ? [...FILTERS.slice(0, 3), SUBJECT, ...FILTERS.slice(3)] : FILTERS}
      load={async ({ filters, limit, offset }, signal) => {
        const page = await api.operator.audit.list(
          given({
            limit,
            offset,
            subject: subject ?? textOf(filters, 'subject'),
            search: textOf(filters, 'search'),
            actor: textOf(filters, 'actor'),
            action: textOf(filters, 'action'),
            ...periodOf(filters),
          }),
          { signal },
        );
        return { rows: page.entries, total: page.pagination.total };
      }}
      rowKey={({ audit_id }) => audit_id}
      columns={[
        { title: 'When', cell: ({ at }) => <Time at={at} /> },
        { title: 'Who', cell: ({ actor }) => <Actor actor={actor} /> },
        { title: 'What', cell: ({ action }) => <span title={action}>{verbOf(action)}</span> },
        ...(subject === undefined
          ? [
              {
                title: 'Subject',
                cell: (row: AuditPage['entries'][number]) => <Subject subject={row.subject} />,
              },
            ]
          : []),
        { title: 'Why', cell: ({ reason }) => reason },
        { title: 'Before and after', cell: ({ before, after }) => <Changes before={before} after={after} /> },
      ]}
      empty="Nothing was done that matches"
    />
  );
}
