-- Forward requests that partners were asked to sign, and the nonces they use up.

-- The forwarder counts one sequence a wallet, across all its orders. The row is the lock under which one is taken.
CREATE TABLE forwarder_nonces (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  forwarder text NOT NULL CHECK (forwarder ~ '^0x[0-9a-fA-F]{40}$'),
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-fA-F]{40}$'),
  partner_id uuid NOT NULL REFERENCES partners,
  -- The lowest nonce that the chain has not seen used; only ever grows.
  next_nonce numeric(78, 0) NOT NULL CHECK (next_nonce >= 0),
  PRIMARY KEY (chain_id, forwarder, sender, partner_id)
);
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
  -- Unix seconds of the chain: the last one in which the request can be executed.
  deadline bigint NOT NULL CHECK (deadline > 0),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  token text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  recipient text NOT NULL,
  -- { quoteId, toAmount, destinationChain, destinationAddress } of a send-out.
  bridge jsonb,
  -- issued: shown to the partner; authorized: signed, so it may be executed by anyone until its deadline;
  -- spent: its nonce is used on chain, by it or by something else; lapsed: its deadline has passed for good.
  status text NOT NULL DEFAULT 'issued' CHECK (status IN ('issued', 'authorized', 'spent', 'lapsed')),
  signature text CHECK (signature ~ '^0x[0-9a-f]{130}$'),
  tx_hash text CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  succeeded boolean,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  settled_at timestamptz,
  CHECK ((purpose = 'bridge') = (bridge IS NOT NULL)),
  CHECK (status = 'issued' OR signature IS NOT NULL)
);
-- One signed request a nonce, and one an order: a second could pay twice while the first can still be executed.
CREATE UNIQUE INDEX forward_authorizations_nonce_once ON forward_authorizations (chain_id, forwarder, sender, nonce)
  WHERE status IN ('authorized', 'spent');
CREATE UNIQUE INDEX forward_authorizations_order_once ON forward_authorizations (order_id)
  WHERE status = 'authorized';
CREATE INDEX forward_authorizations_by_order ON forward_authorizations (order_id, purpose, issued_at DESC);
CALL own_by_partner('forward_authorizations', 'SELECT, INSERT, UPDATE');
