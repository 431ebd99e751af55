import type { QueueCase } from '@causeway/sdk';
import { Badge, Box, Button, Group, Kbd, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useGo, useSearch } from '../../ui/navigation.tsx';
import type { Search } from '../../ui/search.ts';
import { Empty, Loaded, Loading } from '../../ui/states.tsx';
import { loadCase, useQueue, useQueueCounts, viewOf } from './queue/data.ts';
import { useKeys } from './queue/keys.ts';
import { CaseList, ViewFilter } from './queue/list.tsx';
import { PendingBar, usePendingDecision } from './queue/pending.tsx';
import { type CaseKeys, caseToPin, keyOf, type SelectedCase, selectedOf } from './queue/selection.ts';

const load = () => import('./queue/case.tsx');
const CaseView = lazy(load);
const Help = lazy(() => import('./queue/help.tsx'));

/** One queue of what needs a person. J and K move, the letters decide, and the next case is there at once. */
export default function Queue() {
  const search = useSearch();
  const go = useGo();
  const view = viewOf(search);
  const counts = useQueueCounts();
  const queue = useQueue(view);
  const pending = usePendingDecision();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [keys, setKeys] = useState<CaseKeys | null>(null);
  const client = useQueryClient();

  const rows = (queue.data?.pages ?? [])
    .flatMap(({ cases }) => cases)
    .filter((row) => !pending.hidden.has(keyOf(row)));
  const selected = selectedOf(search.case);
  const index = rows.findIndex((row) => keyOf(row) === keyOf(selected));

  const change = useCallback(
    (changed: Search) => go('/operator/queue', { search: { ...search, ...changed }, replace: true }),
    [go, search],
  );
  const select = (row: QueueCase | SelectedCase | undefined) => change({ case: row && keyOf(row) });
  const move = (by: number) => {
    const next = rows[Math.min(Math.max(index + by, 0), rows.length - 1)];
    if (next !== undefined) select(next);
  };

  // In the address, so that a more urgent case that comes by a poll takes the first row and not the place of the one that
  // somebody is deciding. Only from rows that were just read: others are of the view before, or decided long ago.
  const isCurrent = !queue.isPlaceholderData && !queue.isFetching;
  const pin = isCurrent ? caseToPin(search.case, rows) : undefined;
  useEffect(() => {
    if (pin !== undefined) change({ case: pin });
  }, [pin, change]);

  // The two after this one are read before they are asked for: the next case is painted at once.
  const ahead = rows
    .slice(index + 1, index + 3)
    .map(keyOf)
    .join(' ');
  useEffect(() => {
    void load();
    for (const key of ahead.split(' ')) {
      const next = selectedOf(key);
      if (next !== null) void client.prefetchQuery(loadCase(next));
    }
  }, [ahead, client]);

  useKeys({
    j: () => move(1),
    k: () => move(-1),
    enter: () => document.getElementById('queue-case')?.focus(),
    u: () => {
      const undone = pending.undo();
      if (undone !== null) select(selectedOf(undone) ?? undefined);
    },
    '?': () => setHelpOpen(true),
  });

  return (
    <>
      <Head counts={counts.data} />
      <Group align="flex-start" gap="md" wrap="wrap" data-testid="queue">
        <Box w={{ base: '100%', lg: 250, xl: 320 }} component="section" aria-label="Cases">
          <ViewFilter view={view} counts={counts.data} change={change} />
          <Loaded query={queue}>
            {({ pages }) =>
              rows.length === 0 ? (
                <Empty title="Nothing waits">Cases appear here by themselves.</Empty>
              ) : (
                <CaseList
                  rows={rows}
                  asOf={pages.at(-1)?.as_of ?? ''}
                  selected={keyOf(selected)}
                  failures={pending.failures}
                  onSelect={select}
                  more={queue.hasNextPage ? () => void queue.fetchNextPage() : undefined}
                />
              )
            }
          </Loaded>
        </Box>
        <Box flex={1} miw={{ base: '100%', lg: 0 }} id="queue-case" tabIndex={-1} style={{ outline: 'none' }}>
          {selected === null ? null : (
            <Suspense fallback={<Loading />}>
              <CaseView
                key={keyOf(selected)}
                selected={selected}
                pending={pending}
                onOffered={setKeys}
                onDecided={() => {
                  const next = rows[index + 1] ?? rows[index - 1];
                  select(next);
                }}
              />
            </Suspense>
          )}
        </Box>
      </Group>
      <PendingBar pending={pending} onUndone={(key) => select(selectedOf(key) ?? undefined)} />
      <KeyHints keys={keys} canUndo={pending.waiting !== null} onHelp={() => setHelpOpen(true)} />
      {isHelpOpen ? (
        <Suspense>
          <Help keys={keys} onClose={() => setHelpOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

function Head({ counts }: { readonly counts: ReturnType<typeof useQueueCounts>['data'] }) {
  return (
    <Group justify="space-between" mb="md">
      <div>
        <Title order={1} size="h2">
          Queue
        </Title>
        <Text c="dimmed" size="sm">
          What needs a person, what is due first at the top.
        </Text>
      </div>
      {counts === undefined ? null : (
        <Group gap="xs" data-testid="queue-counts" aria-live="polite">
          <Badge size="lg" variant="light" data-testid="count-waiting" data-count={counts.waiting} tt="none">
            {counts.waiting} waiting
          </Badge>
          <Badge
            size="lg"
            variant="light"
            color={counts.overdue > 0 ? 'red' : 'teal'}
            data-testid="count-overdue"
            data-count={counts.overdue}
            tt="none"
          >
            {counts.overdue} overdue
          </Badge>
        </Group>
      )}
    </Group>
  );
}

type Hint = readonly [keys: string, says: string];

/** What the keys do now; without a case there is none to decide. */
function hintsOf(keys: CaseKeys | null, canUndo: boolean): readonly Hint[] {
  const undo: readonly Hint[] = canUndo ? [['U', 'undo']] : [];
  if (keys === null) return [['J K', 'move'], ...undo];
  return [
    ['J K', 'move'],
    ['C', 'claim'],
    [keys.hasOrder ? '1–4' : '1 4', 'tabs'],
    [keys.decisions.map(({ key }) => key).join(' '), 'choose'],
    ['Ctrl Enter', 'confirm'],
    ['N', 'note'],
    ...undo,
  ];
}

function KeyHints({
  keys,
  canUndo,
  onHelp,
}: {
  readonly keys: CaseKeys | null;
  readonly canUndo: boolean;
  readonly onHelp: () => void;
}) {
  return (
    <Group
      gap="md"
      mt="lg"
      pt="sm"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
      data-testid="key-hints"
    >
      {hintsOf(keys, canUndo).map(([pressed, says]) => (
        <Group key={says} gap={6} visibleFrom="sm" data-hint={says}>
          <Kbd size="xs">{pressed}</Kbd>
          <Text size="xs" c="dimmed">
            {says}
          </Text>
        </Group>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={onHelp} data-testid="queue-help">
        ? all keys
      </Button>
    </Group>
  );
}
