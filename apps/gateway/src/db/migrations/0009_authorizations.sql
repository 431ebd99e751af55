-- Forward requests that partners sign (funding of escrows, send-outs over a bridge), and what bridges paid out.

CREATE TABLE forwarder_nonces (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  forwarder text NOT NULL CHECK (forwarder ~ '^0x[0-9a-fA-F]{40}$'),
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-fA-F]{40}$'),
  partner_id uuid NOT NULL REFERENCES partners,
  next_nonce numeric(78, 0) NOT NULL CHECK (next_nonce >= 0),
  PRIMARY KEY (chain_id, forwarder, sender, partner_id)
);
COMMENT ON TABLE forwarder_nonces IS
  'The forwarder counts one sequence a wallet, across all its orders; a nonce is taken under the lock of the row.';
COMMENT ON COLUMN forwarder_nonces.next_nonce IS 'The lowest nonce that the chain has not seen used; it only grows.';
CALL own_by_partner('forwarder_nonces', 'SELECT, INSERT, UPDATE');

CREATE TABLE forward_authorizations (
  authorization_id uuid PRIMARY KEY,
  order_id uuid NOT NULL,
  partner_id uuid NOT NULL REFERENCES partners,
  purpose text NOT NULL CHECK (purpose IN ('funding', 'bridge')),
  chain_id bigint NOT NULL,
  forwarder text NOT NULL,
  sender text NOT NULL,
  nonce numeric(78, 0) NOT NULL CHECK (nonce >= 0),
  router text NOT NULL,
  gas bigint NOT NULL CHECK (gas > 0),
  deadline bigint NOT NULL CHECK (deadline > 0),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  token text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  recipient text NOT NULL,
  bridge jsonb,
  status text NOT NULL DEFAULT 'issued' CHECK (status IN ('issued', 'authorized', 'spent', 'lapsed')),
  signature text CHECK (signature ~ '^0x[0-9a-f]{130}$'),
  tx_hash text CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  succeeded boolean,
  deposit_tx_hash text CHECK (deposit_tx_hash ~ '^0x[0-9a-f]{64}$'),
  deposited_at timestamptz,
  overdue_at timestamptz,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  settled_at timestamptz,
  CHECK ((purpose = 'bridge') = (bridge IS NOT NULL)),
  CHECK (status = 'issued' OR signature IS NOT NULL),
  CHECK ((deposit_tx_hash IS NULL) = (deposited_at IS NULL))
);
COMMENT ON TABLE forward_authorizations IS 'Forward requests that partners were asked to sign.';
COMMENT ON COLUMN forward_authorizations.deadline IS
  'Unix seconds of the chain: the last one in which the request can be executed.';
COMMENT ON COLUMN forward_authorizations.bridge IS
  '{ quoteId, toAmount, destinationChain, destinationAddress } of a send-out.';
COMMENT ON COLUMN forward_authorizations.status IS
  'issued: shown to the partner. authorized: signed, so anyone may execute it until its deadline. spent: its nonce is used '
  'on chain, by it or by another request. lapsed: its deadline has passed for good.';
COMMENT ON COLUMN forward_authorizations.deposit_tx_hash IS
  'The deposit of a send-out: from deposited_at on the money is with the bridge.';
COMMENT ON COLUMN forward_authorizations.overdue_at IS
  'Since when an operator has been asked to look: the bridge was paid and did not pay out. Asked once.';
-- One signed request a nonce, and one an order: a second could pay twice while the first can still be executed.
CREATE UNIQUE INDEX forward_authorizations_nonce_once ON forward_authorizations (chain_id, forwarder, sender, nonce)
  WHERE status IN ('authorized', 'spent');
CREATE UNIQUE INDEX forward_authorizations_order_once ON forward_authorizations (order_id)
  WHERE status = 'authorized';
CREATE INDEX forward_authorizations_by_order ON forward_authorizations (order_id, purpose, issued_at DESC);
CREATE INDEX forward_authorizations_by_quote ON forward_authorizations ((bridge ->> 'quoteId')) WHERE bridge IS NOT NULL;
CALL own_by_partner('forward_authorizations', 'SELECT, INSERT, UPDATE');

CREATE TABLE bridge_payouts (
  destination_chain text NOT NULL,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  asset text NOT NULL,
  recipient text NOT NULL CHECK (recipient ~ '^0x[0-9a-f]{40}$'),
  received numeric(78, 0) NOT NULL CHECK (received > 0),
  counted numeric(78, 0) NOT NULL CHECK (counted > 0),
  PRIMARY KEY (destination_chain, tx_hash, asset, recipient),
  CONSTRAINT bridge_payouts_counted_once CHECK (counted <= received)
);
COMMENT ON TABLE bridge_payouts IS
  'What a payout of a bridge brought a recipient, and how much of it was counted for send-outs: one payout must not end two '
  'of them, in whichever process, and whether a worker or an operator decides.';
COMMENT ON COLUMN bridge_payouts.recipient IS 'In lower case.';
CALL own_by_system('bridge_payouts');

CREATE TABLE bridge_payout_claims (
  authorization_id uuid PRIMARY KEY REFERENCES forward_authorizations,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  claimed_at timestamptz NOT NULL
);
COMMENT ON TABLE bridge_payout_claims IS 'Which payout ended a send-out.';
CALL own_by_system('bridge_payout_claims');

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
  conduct text NOT NULL CHECK (conduct IN ('pays', 'waits', 'refuses')),
  status text NOT NULL DEFAULT 'quoted' CHECK (status IN ('quoted', 'deposited', 'settled', 'returned')),
  deposit_tx_hash text,
  payout_tx_hash text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (from_chain_id <> to_chain_id)
);
COMMENT ON TABLE simulated_bridge_quotes IS
  'Sandbox: what the solver of the simulated bridge quoted, was paid and paid out.';
COMMENT ON COLUMN simulated_bridge_quotes.conduct IS
  'pays: as a real one. waits: until told otherwise. refuses: sends the deposit back.';
CALL own_by_system('simulated_bridge_quotes');
