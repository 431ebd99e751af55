-- What escrows executed, as final blocks show it, whoever sent the transaction: a payout is settled from here
-- where the service's own transaction was not the one that did it.
CREATE TABLE escrow_executions (
  chain_id bigint NOT NULL,
  address text NOT NULL,
  safe_tx_hash text NOT NULL CHECK (safe_tx_hash ~ '^0x[0-9a-f]{64}$'),
  order_id uuid NOT NULL,
  partner_id uuid NOT NULL,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  observed_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, address, safe_tx_hash),
  FOREIGN KEY (chain_id, address) REFERENCES escrow_watches
);
CREATE INDEX escrow_executions_by_order ON escrow_executions (order_id);
CALL own_by_partner('escrow_executions', 'SELECT');

-- Those whose order may have ended since are looked through every minute.
CREATE INDEX escrow_watches_unclosed ON escrow_watches (order_id) WHERE closed_at IS NULL;

-- Tokens that are not the chain's configured ones are looked for apart, behind the watcher and within bounds: how far,
-- and what was passed over because there was too much of it.
CREATE TABLE foreign_token_cursors (
  chain_id bigint PRIMARY KEY CHECK (chain_id > 0),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  updated_at timestamptz NOT NULL
);
CALL own_by_system('foreign_token_cursors');

CREATE TABLE foreign_token_gaps (
  gap_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  from_block bigint NOT NULL CHECK (from_block >= 0),
  to_block bigint NOT NULL CHECK (to_block >= from_block),
  -- How many watched escrows were not looked at in some of these blocks, and how many deposits were seen and not kept.
  escrows integer NOT NULL CHECK (escrows >= 0),
  deposits integer NOT NULL CHECK (deposits >= 0),
  recorded_at timestamptz NOT NULL
);
CREATE INDEX foreign_token_gaps_by_time ON foreign_token_gaps (chain_id, recorded_at);
CALL own_by_system('foreign_token_gaps');

-- What the escrows that hold something have executed so far is read once more.
SET LOCAL ROLE causeway_system;
UPDATE escrow_watches w SET caught_up = false
  FROM orders o WHERE o.order_id = w.order_id AND o.facts->>'escrow' IN ('funded', 'releasing', 'refunding');
RESET ROLE;
