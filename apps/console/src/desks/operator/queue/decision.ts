import type { ConsoleOperation } from '@causeway/protocol/console';
import type { QueueCaseDetail } from '@causeway/sdk';
import { api } from '../../../api/client.ts';

/** What can be decided about a case, by kind, in words. Each is one of the operator’s own calls. */
export interface Decision {
  readonly key: 'A' | 'R' | 'Q' | 'E';
  readonly label: string;
  /** What comes of it. */
  readonly says: string;
  readonly operation: ConsoleOperation;
  readonly color: string;
  /** Why; the first is taken where no other is chosen. The code is what the service wants to know, where it wants one. */
  readonly reasons: readonly { readonly code: string; readonly label: string }[];
  /** What the order has to allow for it, by its name among the order’s `allowed_actions`. */
  readonly action?: string;
  /** Whether an order has to be chosen first. */
  readonly choosesOrder?: boolean;
  readonly send: (detail: QueueCaseDetail, chosen: Chosen) => Promise<unknown>;
}

export interface Chosen {
  /** Kept in the audit log. */
  readonly reason: string;
  readonly code: string;
  readonly orderId: string;
}

export const because = (...labels: readonly string[]) => labels.map((label) => ({ code: label, label }));

const PUT_OFF_MINUTES = 60;
export const PUT_OFF: Decision = {
  key: 'E',
  label: 'Put off for an hour',
  says: 'The case is left out of the queue for an hour. Its target time does not change.',
  operation: 'snoozeQueueCase',
  color: 'gray',
  reasons: because('Waits for an answer from outside', 'Somebody else has to look first'),
  send: ({ kind, subject_id }, { reason }) =>
    api.operator.queue.snooze(kind, subject_id, { minutes: PUT_OFF_MINUTES, reason }),
};
