-- A transaction whose nonce something else has used for good is over, though it has no receipt (decision 0025).
ALTER TABLE chain_transactions
  DROP CONSTRAINT chain_transactions_status_check,
  ADD CONSTRAINT chain_transactions_status_check CHECK (status IN ('open', 'succeeded', 'reverted', 'displaced'));
