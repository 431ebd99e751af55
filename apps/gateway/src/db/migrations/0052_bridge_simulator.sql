-- The simulated bridge of a sandbox: what its solver quoted, was paid and paid out.
CREATE TABLE simulated_bridge_quotes (
  quote_id text PRIMARY KEY CHECK (quote_id ~ '^0x[0-9a-f]{64}$'),
  from_chain_id bigint NOT NULL,
  to_chain_id bigint NOT NULL,
  from_token text NOT NULL,
  to_token text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  to_amount numeric(78, 0) NOT NULL CHECK (to_amount > 0),
  sender text NOT NULL,
  recipient text NOT NULL CHECK (recipient ~ '^0x[0-9a-fA-F]{40}$'),
  -- pays: as a real one; waits: until told otherwise; refuses: sends the deposit back.
  conduct text NOT NULL CHECK (conduct IN ('pays', 'waits', 'refuses')),
  status text NOT NULL DEFAULT 'quoted' CHECK (status IN ('quoted', 'deposited', 'settled', 'returned')),
  deposit_tx_hash text,
  payout_tx_hash text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (from_chain_id <> to_chain_id)
);
CALL own_by_system('simulated_bridge_quotes');
