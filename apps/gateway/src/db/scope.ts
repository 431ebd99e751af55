import { type BatchItem, batchItem } from './batch.ts';
import { statement } from './statement.ts';

/**
 * Whose rows a transaction sees, by one of three roles, none of which can bypass row-level security:
 *   partner  sees the rows of one partner, named with every statement; narrowed to one customer of it where one is named;
 *   vendor   sees its own rows, its orders and what it needs to serve them, likewise;
 *   system   sees every row: workers, the operator, start-up.
 */
export type Scope =
  | { readonly kind: 'partner'; readonly partnerId: string }
  | { readonly kind: 'customer'; readonly partnerId: string; readonly userId: string }
  | { readonly kind: 'vendor'; readonly vendorId: string }
  | { readonly kind: 'system' };

export const SYSTEM: Scope = { kind: 'system' };

export function partnerScope(partnerId: string): Scope {
  return { kind: 'partner', partnerId };
}

/** A partner’s scope narrowed to one customer: of that customer’s rows, and of its orders those that it opened itself. */
export function customerScope(partnerId: string, userId: string): Scope {
  return { kind: 'customer', partnerId, userId };
}

export function vendorScope(vendorId: string): Scope {
  return { kind: 'vendor', vendorId };
}

const ENTER_PARTNER = statement<[partnerId: string]>(
  'db.enter_partner',
  `SELECT set_config('role', 'causeway_partner', true), set_config('causeway.partner_id', $1, true)`,
);
const ENTER_CUSTOMER = statement<[partnerId: string, userId: string]>(
  'db.enter_customer',
  `SELECT set_config('role', 'causeway_customer', true), set_config('causeway.partner_id', $1, true),
          set_config('causeway.user_id', $2, true)`,
);
const ENTER_VENDOR = statement<[vendorId: string]>(
  'db.enter_vendor',
  `SELECT set_config('role', 'causeway_vendor', true), set_config('causeway.vendor_id', $1, true)`,
);
const ENTER_SYSTEM = statement<[]>('db.enter_system', `SELECT set_config('role', 'causeway_system', true)`);

/** Takes on the role, until the transaction ends. */
export function enter(scope: Scope): BatchItem[] {
  switch (scope.kind) {
    case 'partner':
      return [batchItem(ENTER_PARTNER, [scope.partnerId])];
    case 'customer':
      return [batchItem(ENTER_CUSTOMER, [scope.partnerId, scope.userId])];
    case 'vendor':
      return [batchItem(ENTER_VENDOR, [scope.vendorId])];
    case 'system':
      return [batchItem(ENTER_SYSTEM, [])];
  }
}
