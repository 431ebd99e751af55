-- A payment into an escrow that is not exactly what was awaited is a case of its own: an operator accepts it or has it
-- returned, and the books hold it from the moment it is seen.
ALTER TABLE deposit_observations
  ADD COLUMN deposit_id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- How much of it was credited to the order by an operator's decision.
  ADD COLUMN credited_amount numeric(78, 0) NOT NULL DEFAULT 0,
  -- Where the rest goes, fixed by the decision; the nonce and the owner's signature by whoever signs.
  ADD COLUMN return_to text CHECK (return_to ~ '^0x[0-9a-fA-F]{40}$'),
  ADD COLUMN return_amount numeric(78, 0) CHECK (return_amount > 0),
  ADD COLUMN return_nonce bigint CHECK (return_nonce >= 0),
  ADD COLUMN return_signature text CHECK (return_signature ~ '^0x[0-9a-f]{130}$'),
  ADD COLUMN return_attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN return_tx_hash text CHECK (return_tx_hash ~ '^0x[0-9a-f]{64}$'),
  ADD COLUMN decided_at timestamptz,
  DROP CONSTRAINT deposit_observations_disposition_check;
ALTER TABLE deposit_observations ALTER COLUMN deposit_id DROP DEFAULT;

SET LOCAL ROLE causeway_system;
UPDATE deposit_observations SET disposition = 'dismissed' WHERE disposition = 'resolved';
RESET ROLE;

ALTER TABLE deposit_observations
  ADD CHECK (disposition IN
    ('credited', 'held_for_review', 'accepted', 'return_pending', 'returning', 'returned', 'dismissed')),
  ADD CHECK (credited_amount >= 0 AND credited_amount + coalesce(return_amount, 0) <= amount),
  ADD CHECK (disposition NOT IN ('return_pending', 'returning', 'returned')
             OR (return_to IS NOT NULL AND return_amount IS NOT NULL)),
  ADD CHECK (disposition NOT IN ('returning', 'returned')
             OR (return_nonce IS NOT NULL AND return_signature IS NOT NULL));
CREATE UNIQUE INDEX deposit_observations_by_id ON deposit_observations (deposit_id);
CREATE INDEX deposit_observations_by_disposition ON deposit_observations (disposition, observed_at, deposit_id)
  WHERE disposition NOT IN ('credited', 'dismissed');
-- Never two transactions of ours for one nonce of an escrow, and never two at once.
CREATE UNIQUE INDEX deposit_observations_one_nonce ON deposit_observations (chain_id, address, return_nonce)
  WHERE disposition IN ('returning', 'returned');
CREATE UNIQUE INDEX deposit_observations_one_return ON deposit_observations (chain_id, address)
  WHERE disposition = 'returning';
-- An owner of the escrow signs in its own scope; who is paid, and how much, is the operator's decision.
GRANT UPDATE (disposition, return_nonce, return_signature, return_attempts) ON deposit_observations TO causeway_partner;
-- A vendor sees what became of what was paid into the escrows of its orders.
GRANT SELECT ON deposit_observations TO causeway_vendor;

-- What is held already comes into the books now. Tokens other than the order's own do when they go back.
SET LOCAL ROLE causeway_system;
WITH held AS (
  SELECT gen_random_uuid() AS entry_id, d.deposit_id, d.partner_id, d.order_id, d.sender, d.amount, d.observed_at,
         o.crypto_currency || '@' || o.chain AS asset
    FROM deposit_observations d
    JOIN escrow_watches w ON w.chain_id = d.chain_id AND w.address = d.address
    JOIN orders o ON o.order_id = d.order_id
   WHERE d.disposition = 'held_for_review' AND lower(d.token) = lower(w.token) AND d.amount > 0
), entries AS (
  INSERT INTO ledger_entries (entry_id, partner_id, order_id, kind, dedupe_key, created_at)
  SELECT entry_id, partner_id, order_id, 'deposit_held', deposit_id || ':deposit_held', observed_at FROM held
)
INSERT INTO ledger_postings (entry_id, line, partner_id, account, asset, amount)
SELECT entry_id, line, partner_id, account, asset, moved
  FROM held, LATERAL (VALUES (1, 'outside:payer:' || sender, -amount), (2, 'held:' || order_id, amount))
    AS posting (line, account, moved);
RESET ROLE;
