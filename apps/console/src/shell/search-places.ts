import type { Desk } from '@causeway/protocol/console';
import { stringifySearch } from '../ui/search.ts';

/** One of the answers of the search by any id. */
export interface Found {
  readonly kind: string;
  readonly id: string;
  readonly matched: string;
  readonly label: string;
  readonly order_id: string | null;
  readonly user_id: string | null;
  readonly endpoint_id: string | null;
}

/** A whole key is a secret: only what lists show of it leaves the page. */
export function searchText(given: string): string {
  const text = given.trim();
  const [, prefix, rest] = /^(cw_[a-z]+_)([A-Za-z0-9_-]{12,})$/.exec(text) ?? [];
  return prefix === undefined || rest === undefined ? text : `${prefix}…${rest.slice(-4)}`;
}

/** Where a desk shows it; undefined where it has no page for it. */
export function placeOf(desk: Desk, found: Found): string | undefined {
  const { kind, id, order_id: orderId, user_id: userId, endpoint_id: endpointId } = found;
  const at = (page: string, search: Readonly<Record<string, unknown>> = {}) =>
    `/${desk}/${page}${stringifySearch(search)}`;
  switch (kind) {
    case 'order':
      return at(`orders/${id}`);
    case 'request':
      return at('requests', desk === 'operator' ? { request: id } : { request_id: id });
    case 'event':
      return orderId === null ? undefined : at(`orders/${orderId}`);
    case 'delivery':
      if (desk === 'partner' && endpointId !== null) return at(`webhooks/${endpointId}`, { delivery: id });
      return orderId === null ? undefined : at(`orders/${orderId}`);
    case 'key':
      return at('keys', { key: id });
    case 'partner':
    case 'vendor':
      return at(`${kind}s/${id}`);
    case 'customer':
      return desk === 'partner' ? at(`customers/${id}`) : at('orders', { q: id });
    case 'quote':
      if (userId === null) return undefined;
      return desk === 'partner' ? at(`customers/${userId}`) : at('orders', { q: userId });
    case 'recipient':
      return desk === 'partner' ? at(`recipients/${id}`) : undefined;
    default:
      return undefined;
  }
}
