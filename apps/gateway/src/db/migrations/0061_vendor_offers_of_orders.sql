-- An order that waits for a vendor goes from one to the next: who has declined is not asked again.
ALTER TABLE orders
  ADD COLUMN declined_offer_ids uuid[] NOT NULL DEFAULT '{}',
  -- When the present vendor was asked; it has a while to answer.
  ADD COLUMN offered_at timestamptz;
CREATE INDEX orders_offered ON orders (coalesce(offered_at, created_at)) WHERE status = 'awaiting_liquidity_provider';
