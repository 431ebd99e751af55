import { QUEUE_KINDS, QUEUE_TITLES, type QueueKind } from '@causeway/protocol/console';
import type { QueueCase, QueueCaseDetail } from '@causeway/sdk';
import { formatAmount } from '../../../ui/amount.ts';
import { shortId } from '../../../ui/ids.ts';

/** Which case is shown: part of the address, so that it can be sent to another operator. */
export interface SelectedCase {
  readonly kind: QueueKind;
  readonly subject_id: string;
}

/** A service that is newer than the page may know kinds that the page does not. */
export function ofKind<T>(table: Readonly<Record<QueueKind, T>>, kind: string): T | undefined {
  const known = QUEUE_KINDS.find((one) => one === kind);
  return known === undefined ? undefined : table[known];
}

export function titleOf(kind: string): string {
  return ofKind(QUEUE_TITLES, kind) ?? kind;
}

export function keyOf(one: SelectedCase | QueueCase | null): string {
  return one === null ? '' : `${one.kind}/${one.subject_id}`;
}

export function selectedOf(key: unknown): SelectedCase | null {
  if (typeof key !== 'string') return null;
  const [name, id = ''] = key.split('/');
  const kind = QUEUE_KINDS.find((one) => one === name);
  return kind === undefined || id === '' ? null : { kind, subject_id: id };
}

/**
 * What the address is to name where it names no case: the first that the page knows the kind of. A name that it does not know
 * would be replaced for ever.
 */
export function caseToPin(named: unknown, rows: readonly QueueCase[]): string | undefined {
  if (selectedOf(named) !== null) return undefined;
  return rows.map(keyOf).find((key) => selectedOf(key) !== null);
}

/** Which case it is, by what its row and its page show of it. */
export function nameOf({
  kind,
  order_id,
  subject_id,
  amount,
  currency,
}: QueueCase | QueueCaseDetail): string {
  return [
    titleOf(kind),
    order_id === null ? shortId(subject_id) : `order ${shortId(order_id)}`,
    ...(amount === null ? [] : [`${formatAmount(amount)} ${currency ?? ''}`.trim()]),
  ].join(', ');
}

/** What the keys do for the case that is shown; no other key is offered. */
export interface CaseKeys {
  readonly kind: string;
  readonly hasOrder: boolean;
  readonly decisions: readonly { readonly key: string; readonly label: string }[];
}

/** What a panel of a case is given. */
export interface PanelProps {
  readonly detail: QueueCaseDetail;
}
