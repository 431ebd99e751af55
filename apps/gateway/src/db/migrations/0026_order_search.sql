-- An order is found by the hash of the transaction that settled it, or that sent its crypto on.

CREATE INDEX orders_by_transaction ON orders (tx_hash) WHERE tx_hash IS NOT NULL;
CREATE INDEX orders_by_send_out ON orders (send_out_tx_hash) WHERE send_out_tx_hash IS NOT NULL;

-- What waits for a partner after the end of an order: crypto of it that is still in the escrow.
CREATE INDEX orders_funded_by_partner ON orders (partner_id, created_at DESC, order_id DESC) INCLUDE (status)
  WHERE facts ->> 'escrow' = 'funded';

-- Deliveries of a period, for statistics. Ranges of pages: they are written in the order of time, and a queue that is written
-- all the time must not carry another tree.
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries USING brin (created_at) WITH (pages_per_range = 32);
