import { Button, Group, Table, TextInput } from '@mantine/core';
import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useGo, usePath, useSearch } from './navigation.tsx';
import { listOfSearch, type Search } from './search.ts';
import { Empty, Loaded } from './states.tsx';

/** A filter of a list; its name is the parameter of the address and of the API. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'one' | 'several' | 'date';
  /** Values, or values with what is shown for them. */
  readonly options?: readonly (string | { readonly value: string; readonly label: string })[];
}

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly end?: boolean;
}

/** A page of a list: with a total where it is counted by offset, with a cursor where it is followed. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly total?: number;
  readonly nextCursor?: string | null;
}

export interface ListQuery {
  readonly filters: Search;
  readonly limit: number;
  /** From 1, for lists that count pages. */
  readonly page: number;
  /** For lists that count rows. */
  readonly offset: number;
  readonly cursor: string | undefined;
}

export interface ListProps<Row> {
  readonly id: string;
  readonly queryKey: QueryKey;
  readonly load: (query: ListQuery, signal: AbortSignal) => Promise<ListPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  /** The row that the address is about, by its key. */
  readonly marked?: Search[string];
  readonly filters?: readonly Filter[];
  readonly empty: ReactNode;
  readonly refetchMs?: number;
  readonly pageSize?: number;
  /** What stands beside the filters. */
  readonly actions?: ReactNode;
}

// The first page of a desk is often a list, and these are large.
const Select = lazy(() => import('./choices.tsx').then(({ Select: of }) => ({ default: of })));
const MultiSelect = lazy(() => import('./choices.tsx').then(({ MultiSelect: of }) => ({ default: of })));

const PAGE_SIZE = 25;

/** What the address says of a list, and how to change it. */
export function useListSearch(): readonly [Search, (change: Search) => void] {
  const search = useSearch();
  const path = usePath();
  const go = useGo();
  // A changed filter begins at the first page.
  const change = (given: Search) =>
    go(path, { search: { ...search, page: undefined, cursor: undefined, ...given }, replace: true });
  return [search, change];
}

/** Every list of the console: filters in the address, its own states, rows that open by click and by keyboard. */
export function List<Row>(props: ListProps<Row>) {
  const {
    id,
    queryKey,
    load,
    columns,
    rowKey,
    onOpen,
    filters = [],
    refetchMs,
    pageSize = PAGE_SIZE,
  } = props;
  const [search, change] = useListSearch();
  const page = Math.max(1, Number(search.page ?? '1') || 1);
  const cursor = typeof search.cursor === 'string' ? search.cursor : undefined;
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const query = useQuery({
    queryKey: [...queryKey, chosen, page, cursor],
    queryFn: ({ signal }) =>
      load({ filters: chosen, limit: pageSize, page, offset: (page - 1) * pageSize, cursor }, signal),
    placeholderData: keepPreviousData,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  });
  return (
    <div data-testid={id}>
      <Group mb="md" align="flex-end" gap="sm">
        <Suspense fallback={null}>
          {filters.map((filter) => (
            <FilterField key={filter.name} filter={filter} search={search} change={change} />
          ))}
        </Suspense>
        {filters.some(({ name }) => search[name] !== undefined) ? (
          <Button
            variant="subtle"
            onClick={() => change(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
          >
            Clear
          </Button>
        ) : null}
        {props.actions}
      </Group>
      <Loaded query={query}>
        {({ rows, total, nextCursor }) =>
          rows.length === 0 && page === 1 && cursor === undefined ? (
            typeof props.empty === 'string' ? (
              <Empty title={props.empty} />
            ) : (
              props.empty
            )
          ) : (
            <>
              <Rows columns={columns} rows={rows} rowKey={rowKey} onOpen={onOpen} marked={props.marked} />
              <Pages
                page={page}
                pageSize={pageSize}
                count={rows.length}
                total={total}
                nextCursor={nextCursor}
                isFirst={page === 1 && cursor === undefined}
                change={change}
              />
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Rows<Row>({
  columns,
  rows,
  rowKey,
  onOpen,
  marked,
}: Pick<ListProps<Row>, 'columns' | 'rowKey'> & {
  readonly marked: Search[string];
  readonly rows: readonly Row[];
  readonly onOpen: ListProps<Row>['onOpen'];
}) {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table highlightOnHover={onOpen !== undefined} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, end }) => (
              <Table.Th key={title} ta={end ? 'end' : 'start'} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr
              key={rowKey(row)}
              data-row={rowKey(row)}
              {...(rowKey(row) === marked
                ? { 'aria-current': true, bg: 'var(--mantine-primary-color-light)' }
                : {})}
              {...(onOpen === undefined
                ? {}
                : {
                    tabIndex: 0,
                    style: { cursor: 'pointer' },
                    onClick: (event: React.MouseEvent) => {
                      // What can be clicked in a row does its own thing.
                      if ((event.target as Element).closest('a, button, input, label') === null) onOpen(row);
                    },
                    onKeyDown: (event: React.KeyboardEvent) => {
                      if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(row);
                    },
                  })}
            >
              {columns.map(({ title, cell, end }) => (
                <Table.Td key={title} ta={end ? 'end' : 'start'}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Pages({
  page,
  pageSize,
  count,
  total,
  nextCursor,
  isFirst,
  change,
}: {
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly total: number | undefined;
  readonly nextCursor: string | null | undefined;
  readonly isFirst: boolean;
  readonly change: (change: Search) => void;
}) {
  const first = (page - 1) * pageSize + 1;
  const hasMore = total === undefined ? Boolean(nextCursor) : first - 1 + count < total;
  const forward = total === undefined ? { cursor: nextCursor ?? undefined } : { page: String(page + 1) };
  return (
    <Group justify="space-between" mt="sm">
      <span data-testid="list-count">
        {total === undefined
          ? `${count} shown`
          : count === 0
            ? `none of ${total} here`
            : `${first}–${first - 1 + count} of ${total}`}
      </span>
      <Group gap="xs">
        <Button size="xs" variant="default" disabled={isFirst} onClick={() => change({})}>
          First
        </Button>
        <Button size="xs" variant="default" disabled={!hasMore} onClick={() => change(forward)}>
          Next
        </Button>
      </Group>
    </Group>
  );
}

function FilterField({
  filter: { name, label, kind, options = [] },
  search,
  change,
}: {
  readonly filter: Filter;
  readonly search: Search;
  readonly change: (change: Search) => void;
}) {
  const value = search[name];
  if (kind === 'one') {
    return (
      <Select
        w={190}
        label={label}
        data={[...options]}
        value={typeof value === 'string' ? value : null}
        clearable
        onChange={(chosen) => change({ [name]: chosen ?? undefined })}
        data-testid={`filter-${name}`}
      />
    );
  }
  if (kind === 'several') {
    return (
      <MultiSelect
        w={230}
        label={label}
        data={[...options]}
        value={[...listOfSearch(value)]}
        clearable
        searchable
        onChange={(chosen) => change({ [name]: chosen.length === 0 ? undefined : chosen })}
        data-testid={`filter-${name}`}
      />
    );
  }
  return (
    <TextFilter
      label={label}
      type={kind === 'date' ? 'date' : 'search'}
      value={typeof value === 'string' ? value : ''}
      testId={`filter-${name}`}
      onChange={(text) => change({ [name]: text === '' ? undefined : text })}
    />
  );
}

const TYPING_MS = 300;

/** Asks when typing pauses, not at every key. */
function TextFilter({
  label,
  type,
  value,
  testId,
  onChange,
}: {
  readonly label: string;
  readonly type: 'search' | 'date';
  readonly value: string;
  readonly testId: string;
  readonly onChange: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  // Spaces around it are typed, not meant: the address has none, and what stands in the field keeps them.
  useEffect(() => setText((typed) => (typed.trim() === value.trim() ? typed : value)), [value]);
  useEffect(() => {
    if (text.trim() === value.trim()) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <TextInput
      label={label}
      type={type}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      data-testid={testId}
    />
  );
}
