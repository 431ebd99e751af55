import type { VendorEventType } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';

export interface VendorRow {
  vendor_id: string;
  name: string;
  wallet_address: `0x${string}`;
  simulated_key_sealed: string | null;
}

const COLUMNS = 'vendor_id, name, wallet_address, simulated_key_sealed';

export const findVendor = statement<[vendorId: string], VendorRow>(
  'vendors.find',
  `SELECT ${COLUMNS} FROM vendors WHERE vendor_id = $1`,
);

/** Of several vendors with one wallet, any: they sign with the same key. */
export const findVendorByWallet = statement<[walletAddress: string], VendorRow>(
  'vendors.find_by_wallet',
  `SELECT ${COLUMNS} FROM vendors
    WHERE lower(wallet_address) = lower($1) AND simulated_key_sealed IS NOT NULL LIMIT 1`,
);

export const keepSimulatedKey = statement<[vendorId: string, keySealed: string]>(
  'vendors.keep_simulated_key',
  'UPDATE vendors SET simulated_key_sealed = $2 WHERE vendor_id = $1',
);

export const listVendors = statement<[], VendorRow>(
  'vendors.list',
  `SELECT ${COLUMNS} FROM vendors WHERE active ORDER BY vendor_id`,
);

export const partnerWallet = statement<[partnerId: string], { wallet_address: `0x${string}` }>(
  'vendors.partner_wallet',
  'SELECT wallet_address FROM partners WHERE partner_id = $1',
);

export const vendorProfile = statement<
  [vendorId: string],
  {
    vendor_id: string;
    name: string;
    wallet_address: string;
    kind: 'p2p' | 'direct';
    active: boolean;
    online: boolean;
  }
>(
  'vendors.profile',
  'SELECT vendor_id, name, wallet_address, kind, active, online FROM vendors WHERE vendor_id = $1',
);

/** One reader at a time numbers a vendor's events; a statement of its own, so that the next sees what the last one did. */
export const lockVendorEvents = statement<[vendorId: string]>(
  'vendor_events.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('vendor_events:' || $1::uuid::text, 0))`,
);

/**
 * Events get their sequence number when they are first seen. What is written but not yet visible gets a later one, so no cursor can
 * pass it; events about one order become visible in order, and so they are numbered.
 */
export const numberVendorEvents = statement<[vendorId: string, limit: number]>(
  'vendor_events.number',
  `UPDATE vendor_events SET sequence = fresh.sequence
     FROM (SELECT position, row_number() OVER (ORDER BY position)
                  + coalesce((SELECT max(sequence) FROM vendor_events WHERE vendor_id = $1 AND sequence IS NOT NULL), 0) AS sequence
             FROM (SELECT position FROM vendor_events
                    WHERE vendor_id = $1 AND sequence IS NULL ORDER BY position LIMIT $2) AS unseen) AS fresh
    WHERE vendor_events.vendor_id = $1 AND vendor_events.position = fresh.position`,
);

export interface VendorEventRow {
  cursor: string;
  event_type: VendorEventType;
  order_id: string;
  status: string;
  at: Date;
}

export const readNumberedEvents = statement<[vendorId: string, after: string, limit: number], VendorEventRow>(
  'vendor_events.read',
  `SELECT sequence::text AS cursor, event_type, order_id, status, created_at AS at FROM vendor_events
    WHERE vendor_id = $1 AND sequence > $2::bigint ORDER BY sequence LIMIT $3`,
);

export const vendorEventState = statement<[vendorId: string], { latest: string; has_unnumbered: boolean }>(
  'vendor_events.state',
  `SELECT coalesce((SELECT max(sequence) FROM vendor_events WHERE vendor_id = $1 AND sequence IS NOT NULL), 0)::text AS latest,
          EXISTS (SELECT FROM vendor_events WHERE vendor_id = $1 AND sequence IS NULL) AS has_unnumbered`,
);

/** Each vendor's last one stays: the next is numbered after it, so that a cursor never means two things. */
export const purgeVendorEvents = statement<[before: Date, limit: number], { position: string }>(
  'vendor_events.purge',
  `DELETE FROM vendor_events old USING (
     SELECT vendor_id, position FROM vendor_events candidate
      WHERE created_at <= $1
        AND (sequence IS NULL OR EXISTS (SELECT FROM vendor_events later
                                       WHERE later.vendor_id = candidate.vendor_id AND later.sequence > candidate.sequence))
      ORDER BY created_at LIMIT $2) AS gone
    WHERE old.vendor_id = gone.vendor_id AND old.position = gone.position RETURNING old.position::text`,
);
