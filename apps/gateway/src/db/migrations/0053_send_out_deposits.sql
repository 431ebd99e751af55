-- What became of a send-out's deposit: it is the moment from which the money is with the bridge and no longer with us.
ALTER TABLE forward_authorizations
  ADD COLUMN deposit_tx_hash text CHECK (deposit_tx_hash ~ '^0x[0-9a-f]{64}$'),
  ADD COLUMN deposited_at timestamptz,
  -- The bridge was paid and stayed silent: since when an operator has been asked to look. Asked once.
  ADD COLUMN overdue_at timestamptz,
  ADD CHECK ((deposit_tx_hash IS NULL) = (deposited_at IS NULL));
CREATE INDEX forward_authorizations_by_quote ON forward_authorizations ((bridge ->> 'quoteId')) WHERE bridge IS NOT NULL;
