import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { listOfSearch, type Search } from '../../../ui/search.ts';
import type { SelectedCase } from './selection.ts';

const POLL_MS = 5_000;
const PAGE = 50;

export const SHOWN = ['all', 'mine', 'unassigned', 'overdue', 'snoozed'] as const;
export type Shown = (typeof SHOWN)[number];

export interface QueueView {
  readonly shown: Shown;
  readonly kinds: readonly QueueKind[];
  readonly partnerId: string | undefined;
}

/** The filters are in the address, so that a view can be kept and sent. */
export function viewOf(search: Search): QueueView {
  const kinds = listOfSearch(search.kind);
  return {
    shown: SHOWN.find((one) => one === search.show) ?? 'all',
    kinds: QUEUE_KINDS.filter((kind) => kinds.includes(kind)),
    partnerId: typeof search.partner_id === 'string' ? search.partner_id : undefined,
  };
}

export function useQueue({ shown, kinds, partnerId }: QueueView) {
  return useInfiniteQuery({
    queryKey: ['queue', 'list', shown, kinds, partnerId],
    queryFn: ({ pageParam, signal }) =>
      api.operator.queue.list(
        {
          limit: PAGE,
          ...(kinds.length === 0 ? {} : { kind: [...kinds] }),
          ...(shown === 'mine' ? { assignee: 'me' } : shown === 'unassigned' ? { assignee: 'none' } : {}),
          ...(shown === 'overdue' ? { overdue: true } : {}),
          ...(shown === 'snoozed' ? { snoozed: true } : {}),
          ...(partnerId === undefined ? {} : { partner_id: partnerId }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
}

export function useQueueCounts() {
  return useQuery({
    queryKey: ['queue', 'counts'],
    queryFn: ({ signal }) => api.operator.queue.counts({}, { signal }),
    refetchInterval: POLL_MS,
  });
}

/** A case with what its decision needs; asked again while it is shown, so that it says when another has decided it. */
export const loadCase = ({ kind, subject_id }: SelectedCase) =>
  queryOptions({
    queryKey: ['queue', 'case', kind, subject_id],
    queryFn: ({ signal }) => api.operator.queue.get(kind, subject_id, { signal }),
    staleTime: POLL_MS,
  });

export function useCase(selected: SelectedCase) {
  return useQuery({ ...loadCase(selected), refetchInterval: POLL_MS });
}

export function useOrderTrail(orderId: string | null | undefined) {
  return useQuery({
    queryKey: ['operator', 'order', orderId],
    queryFn: ({ signal }) => api.operator.orders.get(orderId ?? '', { signal }),
    enabled: Boolean(orderId),
    staleTime: POLL_MS,
  });
}
