-- Double-entry books. An entry is a set of postings that sum to zero in every asset; the database
-- refuses anything else, and refuses to change what is written.
CREATE TABLE ledger_entries (
  entry_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid,
  kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 60),
  -- A movement is booked once, however often its confirmation is seen.
  dedupe_key text NOT NULL UNIQUE CHECK (length(dedupe_key) BETWEEN 1 AND 200),
  created_at timestamptz NOT NULL
);
CREATE INDEX ledger_entries_by_order ON ledger_entries (order_id, created_at);
CALL own_by_partner('ledger_entries', 'SELECT, INSERT');

CREATE TABLE ledger_postings (
  entry_id uuid NOT NULL REFERENCES ledger_entries,
  line smallint NOT NULL,
  partner_id uuid NOT NULL,
  -- e.g. escrow:<order>, partner:<partner>:wallet, vendor:<vendor>, treasury, chain:<slug>
  account text NOT NULL CHECK (account ~ '^[a-z_]+(:[A-Za-z0-9_.-]+)*$' AND length(account) <= 160),
  asset text NOT NULL CHECK (length(asset) BETWEEN 3 AND 60),
  -- Atomic units; positive is a debit (the account holds more), negative a credit.
  amount numeric(78, 0) NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (entry_id, line)
);
CREATE INDEX ledger_postings_by_account ON ledger_postings (account, asset);
CALL own_by_partner('ledger_postings', 'SELECT, INSERT');

-- All postings of an entry are written by one statement, so the check sees the whole entry at once.
CREATE FUNCTION refuse_unbalanced_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  unbalanced record;
BEGIN
  SELECT entry_id, asset, sum(amount) AS remainder INTO unbalanced
    FROM written GROUP BY entry_id, asset HAVING sum(amount) <> 0 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'ledger entry % does not balance in %: %', unbalanced.entry_id, unbalanced.asset,
      unbalanced.remainder USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entry_balances';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_entry_balances AFTER INSERT ON ledger_postings
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_entry();

-- The owner of a table is not bound by grants, so immutability is a trigger and not only a missing grant.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
