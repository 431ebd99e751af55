-- Why an order was stopped is kept sealed in order_stop_reasons (0033). Nothing reads or writes this column any more,
-- and what an old deployment left in it is in clear text and may name somebody.
ALTER TABLE orders DROP COLUMN stop_reason;
