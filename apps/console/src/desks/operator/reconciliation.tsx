import type { Difference, EscrowComparison, Reconciliation } from '@causeway/sdk';
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { given, textOf } from '../../ui/filters.ts';
import { useGo, usePath, useSearch } from '../../ui/navigation.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Id, Money, Status, Time } from '../../ui/values.tsx';
import { Rows } from './order-sections.tsx';
import { Party } from './parties.tsx';
import { adviceOn, meaningOf } from './queue/differences.ts';

const PAGE = 200;

/** Whether the books agree with themselves and with the chain; what does not, in words. */
export default function OperatorReconciliation() {
  const search = useSearch();
  const path = usePath();
  const go = useGo();
  const scope = textOf(search, 'scope') === 'all' ? 'all' : 'open';
  const cursor = textOf(search, 'cursor');
  const query = useQuery({
    queryKey: ['operator', 'reconciliation', scope, cursor],
    queryFn: ({ signal }) =>
      api.operator.reconciliation.get(given({ scope, cursor, limit: PAGE }), { signal }),
  });
  return (
    <>
      <PageHead
        title="Reconciliation"
        about="What the books say each escrow holds, against what the chain says now. Every asset’s books must sum to zero."
      >
        <SegmentedControl
          aria-label="Which escrows"
          value={scope}
          onChange={(value) =>
            go(path, { search: { scope: value === 'all' ? 'all' : undefined }, replace: true })
          }
          data={[
            { value: 'open', label: 'Escrows in use' },
            { value: 'all', label: 'Every escrow' },
          ]}
        />
        <Button
          size="xs"
          variant="default"
          loading={query.isFetching}
          onClick={() => void query.refetch()}
          data-testid="reconcile-again"
        >
          Look again
        </Button>
      </PageHead>
      <Loaded query={query}>
        {(found) => (
          <Findings
            found={found}
            isLater={cursor !== undefined}
            onNext={(next) => go(path, { search: { ...search, cursor: next } })}
          />
        )}
      </Loaded>
    </>
  );
}

function Findings({
  found,
  isLater,
  onNext,
}: {
  readonly found: Reconciliation;
  readonly isLater: boolean;
  readonly onNext: (cursor: string) => void;
}) {
  const { books, escrows } = found;
  const unbalanced = books.filter(({ balanced }) => !balanced);
  return (
    <Stack data-testid="reconciliation">
      {unbalanced.length === 0 ? (
        <Alert color="teal" title="The books balance" data-testid="books">
          {books.length === 0
            ? 'Nothing has been booked yet.'
            : `Every posting of ${books.length} assets sums to zero.`}
        </Alert>
      ) : (
        <Alert color="red" title="The books do not balance" role="alert" data-testid="books">
          {unbalanced.map(({ asset, sum }) => `${asset} is off by ${sum} of its smallest unit.`).join(' ')}{' '}
          Stop payouts and look at the ledger export of the last days: an entry was written outside the
          service.
        </Alert>
      )}
      <LastRun found={found} />
      <Text size="sm">
        {escrows.checked} escrows looked at, {escrows.equal} agree.
      </Text>
      <Differences
        title="Different"
        color="red"
        rows={escrows.different}
        says={differenceInWords}
        none="No escrow differs from its books."
      />
      <Differences
        title="On its way"
        rows={escrows.in_flight}
        says={() => 'The chain shows a payment that is not final yet. It settles by itself within minutes.'}
      />
      <Differences
        title="Not reachable"
        rows={escrows.unreachable}
        says={() => 'No node of this chain answers. Look at its nodes, then look again.'}
      />
      {escrows.checked === 0 && !isLater ? <Empty title="There is no escrow to compare" /> : null}
      {found.next_cursor === null ? null : (
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onNext(found.next_cursor ?? '')}>
            Look at the next {PAGE}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** What the worker found by itself, of everything that is recorded twice. */
function LastRun({ found: { differences, last_run: run } }: { readonly found: Reconciliation }) {
  return (
    <div data-testid="kept-differences">
      <Text size="sm">
        {run.finished_at === null ? (
          'No worker has reconciled yet.'
        ) : (
          <>
            A worker last compared books, chain, bank, orders, events and effects{' '}
            <Time at={run.finished_at} />: {run.checked} rows, {run.unreachable} without an answer.
          </>
        )}
      </Text>
      {differences.length === 0 ? (
        <Text size="sm" c="dimmed">
          It knows of nothing that differs.
        </Text>
      ) : (
        <>
          <PartHead title={`Found by the worker (${differences.length})`} />
          <Rows
            label="Found by the worker"
            titles={['What', 'Order', 'Expected', 'Found', 'Since', 'What to do']}
            rows={differences.map((one) => ({ key: one.difference_id, cells: cellsOf(one) }))}
          />
        </>
      )}
    </div>
  );
}

function cellsOf(one: Difference) {
  return [
    <Text key="what" size="sm" fw={700}>
      {meaningOf(one.kind)} {one.asset ?? one.about}
    </Text>,
    one.order_id === null ? (
      '–'
    ) : (
      <Id
        key="order"
        value={one.order_id}
        name="order id"
        to={`/operator/orders/${one.order_id}?tab=money`}
      />
    ),
    <Text key="expected" size="sm">
      {one.expected}
    </Text>,
    <Text key="found" size="sm">
      {one.found}
    </Text>,
    <Time key="since" at={one.first_seen_at} />,
    <Text key="advice" size="sm">
      {adviceOn(one.kind)}
    </Text>,
  ];
}

/** What it probably is, and where to look. */
function differenceInWords({
  difference,
  booked,
  on_chain: onChain,
  escrow_state: state,
}: EscrowComparison): string {
  if (difference === null || onChain === null) return 'The chain could not be read.';
  if (difference.startsWith('-')) {
    return state === 'releasing' || state === 'refunding'
      ? 'The chain holds less than the books: a payout was made and is not booked yet. Look at the order’s effects.'
      : 'The chain holds less than the books: somebody has moved it with two owners’ signatures. Hold the order and look at the escrow’s transactions.';
  }
  return /^0(\.0+)?$/.test(booked)
    ? 'The chain holds something that the books do not know: a payment nobody awaited. Look at the order’s deposits.'
    : 'The chain holds more than the books: somebody paid too much or twice. Look at the order’s deposits.';
}

function Differences({
  title,
  rows,
  says,
  none,
  color,
}: {
  readonly title: string;
  readonly rows: readonly EscrowComparison[];
  readonly says: (one: EscrowComparison) => string;
  readonly none?: string;
  readonly color?: string;
}) {
  if (rows.length === 0)
    return none === undefined ? null : (
      <Text size="sm" c="dimmed">
        {none}
      </Text>
    );
  return (
    <div>
      <PartHead title={`${title} (${rows.length})`} />
      <Rows
        label={title}
        titles={['Order', 'Partner', 'Status', 'Books', 'Chain', 'Difference', 'What it means']}
        rows={rows.map((one) => ({
          key: one.order_id,
          cells: [
            <Id
              key="order"
              value={one.order_id}
              name="order id"
              to={`/operator/orders/${one.order_id}?tab=money`}
            />,
            <Party key="partner" kind="partners" id={one.partner_id} />,
            <Status key="status" value={one.status} />,
            <Money key="booked" amount={one.booked} currency={one.asset} />,
            <Money key="chain" amount={one.on_chain} />,
            <Text key="difference" size="sm" {...(color === undefined ? {} : { fw: 700 })}>
              {one.difference ?? '–'}
            </Text>,
            <Text key="says" size="sm">
              {says(one)}
            </Text>,
          ],
        }))}
      />
    </div>
  );
}
