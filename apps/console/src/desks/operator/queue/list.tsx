import { QUEUE_KINDS, QUEUE_TITLES } from '@causeway/protocol/console';
import type { QueueCase, QueueCounts } from '@causeway/sdk';
import { Badge, Button, Group, NativeSelect, Stack, Text, UnstyledButton } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useSession } from '../../../api/session.ts';
import type { Search } from '../../../ui/search.ts';
import { formatAge, Money } from '../../../ui/values.tsx';
import { type QueueView, SHOWN, type Shown } from './data.ts';
import { keyOf, titleOf } from './selection.ts';

const SHOWN_TITLES: Readonly<Record<Shown, string>> = {
  all: 'All',
  mine: 'Mine',
  unassigned: 'Unassigned',
  overdue: 'Overdue',
  snoozed: 'Put off',
};

/** Which cases are listed: whose, and of what kind. */
export function ViewFilter({
  view,
  counts,
  change,
}: {
  readonly view: QueueView;
  readonly counts: QueueCounts | undefined;
  readonly change: (change: Search) => void;
}) {
  const countOf: Readonly<Record<Shown, number | undefined>> = {
    all: counts?.waiting,
    mine: counts?.mine,
    unassigned: counts?.unassigned,
    overdue: counts?.overdue,
    snoozed: counts?.snoozed,
  };
  return (
    <Stack gap="xs" mb="sm">
      <Group gap={4}>
        {SHOWN.map((shown) => (
          <Button
            key={shown}
            size="compact-xs"
            variant={view.shown === shown ? 'filled' : 'default'}
            aria-pressed={view.shown === shown}
            onClick={() => change({ show: shown === 'all' ? undefined : shown, case: undefined })}
            data-testid={`show-${shown}`}
          >
            {SHOWN_TITLES[shown]} {countOf[shown] ?? ''}
          </Button>
        ))}
      </Group>
      <NativeSelect
        size="xs"
        aria-label="Kind"
        value={view.kinds.length === 1 ? view.kinds[0] : ''}
        onChange={({ currentTarget }) =>
          change({ kind: currentTarget.value === '' ? undefined : currentTarget.value, case: undefined })
        }
        data={[
          { value: '', label: 'Every kind' },
          ...QUEUE_KINDS.map((kind) => {
            const { waiting = 0 } = counts?.kinds.find((one) => one.kind === kind) ?? {};
            return { value: kind, label: `${QUEUE_TITLES[kind]} (${waiting})` };
          }),
        ]}
        data-testid="filter-kind"
      />
    </Stack>
  );
}

export function CaseList({
  rows,
  asOf,
  selected,
  failures,
  onSelect,
  more,
}: {
  readonly rows: readonly QueueCase[];
  readonly asOf: string;
  readonly selected: string;
  readonly failures: ReadonlyMap<string, unknown>;
  readonly onSelect: (row: QueueCase) => void;
  readonly more: (() => void) | undefined;
}) {
  return (
    <>
      <Stack
        component="ul"
        gap={4}
        p={0}
        m={0}
        mah={{ base: 320, lg: 'calc(100vh - 260px)' }}
        style={{ overflowY: 'auto', listStyle: 'none' }}
        aria-label="Cases, due first at the top"
        data-testid="queue-list"
      >
        {rows.map((row) => (
          <li key={keyOf(row)}>
            <CaseRow
              row={row}
              asOf={asOf}
              isSelected={keyOf(row) === selected}
              hasFailed={failures.has(keyOf(row))}
              onSelect={() => onSelect(row)}
            />
          </li>
        ))}
      </Stack>
      {more === undefined ? null : (
        <Button variant="subtle" fullWidth size="xs" mt="xs" onClick={more} data-testid="queue-more">
          Show more
        </Button>
      )}
    </>
  );
}

function CaseRow({
  row,
  asOf,
  isSelected,
  hasFailed,
  onSelect,
}: {
  readonly row: QueueCase;
  readonly asOf: string;
  readonly isSelected: boolean;
  readonly hasFailed: boolean;
  readonly onSelect: () => void;
}) {
  const { user } = useSession();
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <UnstyledButton
      ref={place}
      onClick={onSelect}
      aria-current={isSelected}
      data-testid="queue-row"
      data-kind={row.kind}
      data-subject={row.subject_id}
      w="100%"
      p="xs"
      style={{
        borderRadius: 6,
        border: `1px solid ${isSelected ? 'var(--mantine-primary-color-filled)' : 'var(--mantine-color-default-border)'}`,
        background: isSelected ? 'var(--mantine-color-default-hover)' : 'transparent',
      }}
    >
      <Group justify="space-between" wrap="nowrap" gap={4}>
        <Text size="xs" fw={600}>
          {titleOf(row.kind)}
        </Text>
        <DueClock row={row} asOf={asOf} />
      </Group>
      <Text size="xs" c="dimmed" lineClamp={2}>
        {row.says}
      </Text>
      <Group gap="xs" mt={2}>
        {row.amount === null ? null : (
          <Text size="xs" component="span">
            <Money amount={row.amount} currency={row.currency} />
          </Text>
        )}
        {row.assignee === null ? null : (
          <Badge size="xs" variant="light" tt="none" data-testid="row-assignee">
            {row.assignee.id === user.user_id ? 'You' : row.assignee.name}
          </Badge>
        )}
        {hasFailed ? (
          <Badge size="xs" variant="light" color="red" tt="none">
            Not done
          </Badge>
        ) : null}
      </Group>
    </UnstyledButton>
  );
}

/** By the service’s clock, which a sandbox may have moved. */
function DueClock({ row, asOf }: { readonly row: QueueCase; readonly asOf: string }) {
  const says = formatAge(row.due_at, asOf === '' ? undefined : Date.parse(asOf));
  return (
    <Badge
      size="xs"
      variant="light"
      color={row.overdue ? 'red' : 'gray'}
      tt="none"
      miw="max-content"
      title={`Due ${row.due_at.slice(0, 19).replace('T', ' ')} UTC`}
      data-testid="row-due"
      data-overdue={row.overdue}
    >
      {row.overdue ? `due ${says}` : says}
    </Badge>
  );
}
