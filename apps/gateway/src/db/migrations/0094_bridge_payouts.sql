-- What a bridge's payout brought somebody, and how much of it has been counted for send-outs: one payout must not end two
-- of them, whichever process looks, and whether a worker or an operator decides.
CREATE TABLE bridge_payouts (
  destination_chain text NOT NULL,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  asset text NOT NULL,
  -- In lower case.
  recipient text NOT NULL CHECK (recipient ~ '^0x[0-9a-f]{40}$'),
  received numeric(78, 0) NOT NULL CHECK (received > 0),
  counted numeric(78, 0) NOT NULL CHECK (counted > 0),
  PRIMARY KEY (destination_chain, tx_hash, asset, recipient),
  CONSTRAINT bridge_payouts_counted_once CHECK (counted <= received)
);
CALL own_by_system('bridge_payouts');

CREATE TABLE bridge_payout_claims (
  authorization_id uuid PRIMARY KEY REFERENCES forward_authorizations,
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  claimed_at timestamptz NOT NULL
);
CALL own_by_system('bridge_payout_claims');

-- Send-outs that have ended: what they were paid is all that is known of their payouts.
SET LOCAL ROLE causeway_system;
WITH ended AS (
  SELECT DISTINCT ON (o.order_id) a.authorization_id, o.send_out_tx_hash AS tx_hash, o.crypto_currency AS asset,
         a.bridge ->> 'destinationChain' AS destination_chain, lower(a.bridge ->> 'destinationAddress') AS recipient,
         (a.bridge ->> 'toAmount')::numeric AS amount, o.updated_at
    FROM orders o JOIN forward_authorizations a ON a.order_id = o.order_id
   WHERE o.send_out_tx_hash IS NOT NULL AND a.purpose = 'bridge' AND a.deposit_tx_hash IS NOT NULL
   ORDER BY o.order_id, a.issued_at DESC
), payouts AS (
  INSERT INTO bridge_payouts (destination_chain, tx_hash, asset, recipient, received, counted)
  SELECT destination_chain, tx_hash, asset, recipient, sum(amount), sum(amount) FROM ended
   GROUP BY destination_chain, tx_hash, asset, recipient
)
INSERT INTO bridge_payout_claims (authorization_id, tx_hash, claimed_at)
  SELECT authorization_id, tx_hash, updated_at FROM ended;
RESET ROLE;
