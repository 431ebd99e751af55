-- Exports read the books of one partner in a period; the index of an order's entries does not help there.

CREATE INDEX ledger_entries_by_partner ON ledger_entries (partner_id, created_at, entry_id);
