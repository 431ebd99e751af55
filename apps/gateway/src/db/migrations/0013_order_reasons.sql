-- Why an order stopped or is held. Written by the executor with the status, from the row of the machine that moved it.

ALTER TABLE orders
  ADD COLUMN failure_code text,
  ADD COLUMN cancelled_by text,
  ADD COLUMN hold_reason text,
  ADD COLUMN held_at timestamptz;

-- Not valid: rows from before have none of them, and need not be read for that.
ALTER TABLE orders
  ADD CONSTRAINT orders_failure_code CHECK (failure_code ~ '^[A-Z][A-Z_]{2,59}$') NOT VALID,
  ADD CONSTRAINT orders_cancelled_by
    CHECK (cancelled_by IN ('partner', 'customer', 'vendor', 'operator', 'system')) NOT VALID,
  ADD CONSTRAINT orders_cancelled_with_reason CHECK (cancelled_by IS NULL OR failure_code IS NOT NULL) NOT VALID,
  ADD CONSTRAINT orders_hold_reason CHECK (hold_reason ~ '^[A-Z][A-Z_]{2,59}$') NOT VALID,
  ADD CONSTRAINT orders_hold CHECK ((hold_reason IS NULL) = (held_at IS NULL)) NOT VALID;

COMMENT ON COLUMN orders.failure_code IS
  'ORDER_FAILURES of packages/protocol; null while the order has not stopped, and of orders that stopped before it was kept.';
COMMENT ON COLUMN orders.cancelled_by IS 'CANCELLERS of packages/protocol; null unless the order is cancelled.';
COMMENT ON COLUMN orders.hold_reason IS
  'HOLD_REASONS of packages/protocol; null unless facts say held, and of holds that were placed before it was kept.';
COMMENT ON COLUMN orders.held_at IS 'Since when the order is held without a break; business time.';
