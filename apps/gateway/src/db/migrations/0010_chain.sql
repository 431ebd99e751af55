-- The transactor's memory: one intent, at most one effect, whatever crashes.
-- A nonce is taken under the lock of its row and belongs from then on to exactly one effect, which is
-- signed and sent until it is mined, so no gap stays open.
CREATE TABLE chain_nonces (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-fA-F]{40}$'),
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  PRIMARY KEY (chain_id, sender)
);
CALL own_by_system('chain_nonces');

CREATE TABLE chain_transactions (
  transaction_id uuid PRIMARY KEY,
  -- What the transaction is for. Deciding twice, on any number of processes, gives one transaction.
  effect_key text NOT NULL UNIQUE CHECK (length(effect_key) BETWEEN 1 AND 200),
  chain_id bigint NOT NULL,
  sender text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  to_address text NOT NULL CHECK (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  value numeric(78, 0) NOT NULL CHECK (value >= 0),
  gas bigint NOT NULL CHECK (gas > 0),
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'succeeded', 'reverted')),
  mined_hash text,
  block_number bigint,
  block_hash text,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  FOREIGN KEY (chain_id, sender) REFERENCES chain_nonces,
  UNIQUE (chain_id, sender, nonce),
  CHECK ((status = 'open') = (mined_hash IS NULL AND block_number IS NULL AND block_hash IS NULL AND settled_at IS NULL))
);
CREATE INDEX chain_transactions_open ON chain_transactions (created_at) WHERE status = 'open';
CALL own_by_system('chain_transactions');

-- What was signed, stored before it was sent. All versions of a transaction share its nonce, so the chain
-- admits one of them; a later version only pays more.
CREATE TABLE chain_signed_versions (
  transaction_id uuid NOT NULL REFERENCES chain_transactions,
  version smallint NOT NULL CHECK (version >= 1),
  tx_hash text NOT NULL UNIQUE CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  raw text NOT NULL CHECK (raw ~ '^0x([0-9a-f]{2})+$'),
  max_fee_per_gas numeric(78, 0) NOT NULL CHECK (max_fee_per_gas >= 0),
  max_priority_fee_per_gas numeric(78, 0) NOT NULL CHECK (max_priority_fee_per_gas >= 0),
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (transaction_id, version)
);
CALL own_by_system('chain_signed_versions');
