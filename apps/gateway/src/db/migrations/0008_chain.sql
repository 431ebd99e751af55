-- Chains: transactions of the service, deposits into escrows, requests that partners sign, bridges.
--
-- Transactions. One intent gives at most one effect on chain, also after a crash: a nonce is taken under the lock of its
-- row and from then on belongs to one effect, which is signed and sent until it is mined, so no gap stays open.

CREATE TABLE chain_nonces (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-fA-F]{40}$'),
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  PRIMARY KEY (chain_id, sender)
);
COMMENT ON TABLE chain_nonces IS 'The next nonce of each wallet that the service sends from.';
CALL own_by_system('chain_nonces');

CREATE TABLE chain_transactions (
  transaction_id uuid PRIMARY KEY,
  effect_key text NOT NULL UNIQUE CHECK (length(effect_key) BETWEEN 1 AND 200),
  chain_id bigint NOT NULL,
  sender text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  to_address text NOT NULL CHECK (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  value numeric(78, 0) NOT NULL CHECK (value >= 0),
  gas bigint NOT NULL CHECK (gas > 0),
  -- Not a machine of packages/protocol: what the chain says about the transaction.
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
COMMENT ON TABLE chain_transactions IS 'Transactions that the service sends.';
COMMENT ON COLUMN chain_transactions.effect_key IS
  'What it is for. Deciding twice, on any number of processes, gives one transaction.';
CREATE INDEX chain_transactions_open ON chain_transactions (created_at) WHERE status = 'open';
CALL own_by_system('chain_transactions');

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
COMMENT ON TABLE chain_signed_versions IS
  'What was signed, stored before it was sent. All versions of a transaction share its nonce, so the chain admits one of '
  'them; a later one pays more for gas.';
CALL own_by_system('chain_signed_versions');

-- The watcher: how far it has read, which addresses are escrows, and what it found.

CREATE TABLE chain_cursors (
  chain_id bigint PRIMARY KEY CHECK (chain_id > 0),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  block_hash text NOT NULL CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE chain_cursors IS
  'The last final block that was read. If the chain no longer has its hash, finality was broken.';
CALL own_by_system('chain_cursors');

CREATE TABLE escrow_watches (
  chain_id bigint NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'),
  order_id uuid NOT NULL,
  partner_id uuid NOT NULL,
  token text NOT NULL CHECK (token ~ '^0x[0-9a-fA-F]{40}$'),
  expected_amount numeric(78, 0) NOT NULL CHECK (expected_amount > 0),
  expected_sender text NOT NULL CHECK (expected_sender ~ '^0x[0-9a-fA-F]{40}$'),
  caught_up boolean NOT NULL DEFAULT false,
  registered_at timestamptz NOT NULL,
  closed_at timestamptz,
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (chain_id, address)
);
COMMENT ON TABLE escrow_watches IS 'Addresses of escrows, and the deposit that each waits for.';
COMMENT ON COLUMN escrow_watches.caught_up IS
  'Blocks before the registration were searched: the address can be known before it is registered.';
COMMENT ON COLUMN escrow_watches.closed_at IS
  'When the order ended. It is watched for a while longer, so that late and double deposits are not lost.';
COMMENT ON COLUMN escrow_watches.changed_in IS
  'The transaction that registered, closed or reopened it. The watcher asks for what changed since the oldest transaction '
  'that was open when it last looked, so a late commit is not missed.';
CREATE INDEX escrow_watches_by_order ON escrow_watches (order_id);
CREATE INDEX escrow_watches_open ON escrow_watches (chain_id, closed_at);
CREATE INDEX escrow_watches_by_change ON escrow_watches (chain_id, changed_in);
-- Searched at every turn of the watcher.
CREATE INDEX escrow_watches_new ON escrow_watches (chain_id, registered_at) WHERE NOT caught_up;
-- Searched every minute for orders that have ended since.
CREATE INDEX escrow_watches_unclosed ON escrow_watches (order_id) WHERE closed_at IS NULL;
CALL own_by_partner('escrow_watches', 'SELECT, INSERT');

CREATE FUNCTION mark_watch_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_in := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER escrow_watches_marked BEFORE UPDATE OF closed_at ON escrow_watches
  FOR EACH ROW EXECUTE FUNCTION mark_watch_change();

CREATE TABLE deposit_observations (
  deposit_id uuid NOT NULL,
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
  -- depositMachine of packages/protocol.
  disposition text NOT NULL CHECK (disposition IN
    ('credited', 'held_for_review', 'accepted', 'return_pending', 'returning', 'returned', 'dismissed')),
  note text NOT NULL DEFAULT '' CHECK (length(note) <= 500),
  credited_amount numeric(78, 0) NOT NULL DEFAULT 0,
  return_to text CHECK (return_to ~ '^0x[0-9a-fA-F]{40}$'),
  return_amount numeric(78, 0) CHECK (return_amount > 0),
  return_nonce bigint CHECK (return_nonce >= 0),
  return_signature text CHECK (return_signature ~ '^0x[0-9a-f]{130}$'),
  return_attempts integer NOT NULL DEFAULT 0,
  return_tx_hash text CHECK (return_tx_hash ~ '^0x[0-9a-f]{64}$'),
  observed_at timestamptz NOT NULL,
  decided_at timestamptz,
  PRIMARY KEY (chain_id, tx_hash, log_index),
  FOREIGN KEY (chain_id, address) REFERENCES escrow_watches,
  CHECK (credited_amount >= 0 AND credited_amount + coalesce(return_amount, 0) <= amount),
  CHECK (disposition NOT IN ('return_pending', 'returning', 'returned')
         OR (return_to IS NOT NULL AND return_amount IS NOT NULL)),
  CHECK (disposition NOT IN ('returning', 'returned')
         OR (return_nonce IS NOT NULL AND return_signature IS NOT NULL))
);
COMMENT ON TABLE deposit_observations IS
  'Payments into escrows. One that is not exactly what was expected is held until an operator accepts it or has it '
  'returned; the ledger has it from the moment it is seen (decision 0026).';
COMMENT ON COLUMN deposit_observations.disposition IS 'Its status.';
COMMENT ON COLUMN deposit_observations.credited_amount IS 'How much of it an operator credited to the order.';
COMMENT ON COLUMN deposit_observations.return_to IS
  'Where return_amount goes, fixed by the decision; nonce and signature are fixed by the owner that signs.';
CREATE UNIQUE INDEX deposit_observations_by_id ON deposit_observations (deposit_id);
CREATE INDEX deposit_observations_by_order ON deposit_observations (order_id);
CREATE INDEX deposit_observations_held ON deposit_observations (observed_at) WHERE disposition = 'held_for_review';
CREATE INDEX deposit_observations_by_disposition ON deposit_observations (disposition, observed_at, deposit_id)
  WHERE disposition NOT IN ('credited', 'dismissed');
-- An escrow is funded once, whatever is paid into it.
CREATE UNIQUE INDEX deposit_observations_exact_once ON deposit_observations (chain_id, address) WHERE kind = 'exact';
-- Never two transactions of the service for one nonce of an escrow, and never two at once.
CREATE UNIQUE INDEX deposit_observations_one_nonce ON deposit_observations (chain_id, address, return_nonce)
  WHERE disposition IN ('returning', 'returned');
CREATE UNIQUE INDEX deposit_observations_one_return ON deposit_observations (chain_id, address)
  WHERE disposition = 'returning';
CALL own_by_partner('deposit_observations', 'SELECT');
-- A partner that owns the escrow signs in its own scope; the payee and the amount are the decision of the operator.
GRANT UPDATE (disposition, return_nonce, return_signature, return_attempts) ON deposit_observations TO causeway_partner;
-- A vendor sees what became of deposits into the escrows of its orders.
CREATE POLICY vendor_rows ON deposit_observations FOR SELECT TO causeway_vendor
  USING (EXISTS (SELECT FROM orders o WHERE o.order_id = deposit_observations.order_id));
GRANT SELECT ON deposit_observations TO causeway_vendor;

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
COMMENT ON TABLE escrow_executions IS
  'What escrows executed, as final blocks show it. A payout is settled from here where a transaction of another sender '
  'executed it (decision 0025).';
CREATE INDEX escrow_executions_by_order ON escrow_executions (order_id);
CALL own_by_partner('escrow_executions', 'SELECT');

CREATE TABLE foreign_token_cursors (
  chain_id bigint PRIMARY KEY CHECK (chain_id > 0),
  block_number bigint NOT NULL CHECK (block_number >= 0),
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE foreign_token_cursors IS
  'How far deposits of tokens that the chain is not configured for were searched: apart from the watcher, behind it and '
  'within bounds.';
CALL own_by_system('foreign_token_cursors');

CREATE TABLE foreign_token_gaps (
  gap_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  from_block bigint NOT NULL CHECK (from_block >= 0),
  to_block bigint NOT NULL CHECK (to_block >= from_block),
  escrows integer NOT NULL CHECK (escrows >= 0),
  deposits integer NOT NULL CHECK (deposits >= 0),
  recorded_at timestamptz NOT NULL
);
COMMENT ON TABLE foreign_token_gaps IS 'What that search skipped because there was too much of it.';
COMMENT ON COLUMN foreign_token_gaps.escrows IS 'How many watched escrows were not searched in some of these blocks.';
COMMENT ON COLUMN foreign_token_gaps.deposits IS 'How many deposits were seen and not kept.';
CREATE INDEX foreign_token_gaps_by_time ON foreign_token_gaps (chain_id, recorded_at);
CALL own_by_system('foreign_token_gaps');
