import type { DeliveryView } from '@causeway/protocol';
import type { DeliveryRow } from './delivery-history.store.ts';

export function deliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.delivery_id,
    event_id: row.event_id,
    event_type: row.event_type as DeliveryView['event_type'],
    subject_id: row.subject_id,
    status: row.status,
    attempts: row.attempt_log,
    next_attempt_at: row.status === 'pending' ? row.run_at.toISOString() : null,
    replay_of: row.replay_of,
    created_at: row.created_at.toISOString(),
  };
}
