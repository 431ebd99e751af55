-- Reading orders must not get slower with their number. What a list filters by is in its index, so that a page is found and
-- a total counted without reading the orders themselves; the rows of the page are read after that.
DROP INDEX orders_by_partner;
CREATE INDEX orders_by_partner ON orders (partner_id, created_at DESC, order_id DESC) INCLUDE (status, order_type);
DROP INDEX orders_by_vendor;
CREATE INDEX orders_by_vendor ON orders (vendor_id, created_at DESC, order_id DESC) INCLUDE (status, direction);
CREATE INDEX orders_by_user ON orders (user_id, created_at DESC, order_id DESC);
CREATE INDEX orders_by_reference ON orders (partner_id, reference_id, created_at DESC, order_id DESC)
  WHERE reference_id IS NOT NULL;
-- An index answers alone only for pages that a vacuum has seen since they changed. The default waits for a fifth of the
-- table.
ALTER TABLE orders SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
