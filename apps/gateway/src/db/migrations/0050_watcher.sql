-- What the chain watcher remembers: how far it has read, which addresses are escrows, and every deposit it found.

-- The last final block that was read, with its hash: if the chain no longer has it, finality was broken.
CREATE TABLE chain_cursors (
  chain_id bigint PRIMARY KEY CHECK (chain_id > 0),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_hash text NOT NULL CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  updated_at timestamptz NOT NULL
);
CALL own_by_system('chain_cursors');

CREATE TABLE escrow_watches (
  chain_id bigint NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'),
  order_id uuid NOT NULL,
  partner_id uuid NOT NULL,
  token text NOT NULL CHECK (token ~ '^0x[0-9a-fA-F]{40}$'),
  expected_amount numeric(78, 0) NOT NULL CHECK (expected_amount > 0),
  expected_sender text NOT NULL CHECK (expected_sender ~ '^0x[0-9a-fA-F]{40}$'),
  -- Blocks before the registration are looked through once, because the address can be known before it is registered.
  caught_up boolean NOT NULL DEFAULT false,
  registered_at timestamptz NOT NULL,
  -- Still watched for a while after the order is over: late and double deposits must not be lost.
  closed_at timestamptz,
  PRIMARY KEY (chain_id, address)
);
CREATE INDEX escrow_watches_by_order ON escrow_watches (order_id);
CREATE INDEX escrow_watches_open ON escrow_watches (chain_id, closed_at);
CALL own_by_partner('escrow_watches', 'SELECT, INSERT');

CREATE TABLE deposit_observations (
  chain_id bigint NOT NULL,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index integer NOT NULL CHECK (log_index >= 0),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_hash text NOT NULL CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  address text NOT NULL,
  order_id uuid NOT NULL,
  partner_id uuid NOT NULL,
  token text NOT NULL,
  sender text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount >= 0),
  kind text NOT NULL CHECK (kind IN ('exact', 'short', 'excess', 'double', 'wrong_token', 'foreign_sender')),
  disposition text NOT NULL CHECK (disposition IN ('credited', 'held_for_review', 'resolved')),
  note text NOT NULL DEFAULT '' CHECK (length(note) <= 500),
  observed_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, tx_hash, log_index),
  FOREIGN KEY (chain_id, address) REFERENCES escrow_watches
);
-- An escrow is funded once, whatever is paid into it.
CREATE UNIQUE INDEX deposit_observations_exact_once ON deposit_observations (chain_id, address) WHERE kind = 'exact';
CREATE INDEX deposit_observations_by_order ON deposit_observations (order_id);
CREATE INDEX deposit_observations_held ON deposit_observations (observed_at) WHERE disposition = 'held_for_review';
CALL own_by_partner('deposit_observations', 'SELECT');
