-- An escrow that holds on chain what the books do not know is searched again: a node may have answered for a block that it had
-- not reached, and what was paid long after an order was over was not looked for.
ALTER TABLE escrow_watches ADD COLUMN searched_again_for text CHECK (length(searched_again_for) BETWEEN 1 AND 100);
COMMENT ON COLUMN escrow_watches.searched_again_for IS
  'What it held on chain, as decimal text, when all blocks since its order was opened were last searched again for it: by '
  'itself that is done once for each balance. Null where it never was.';

-- What the queue asks for: orders that wait for one side's word, oldest first. Statuses are those of the machines.
CREATE INDEX orders_to_confirm ON orders (created_at, order_id)
  WHERE status IN ('fiat_transfer_pending', 'awaiting_fiat_received_confirmation');
