-- Roles, tenancy and the tables of who is who.
-- Two roles do all the work; neither owns a table nor may bypass row-level security:
--   causeway_partner  sees the rows of the partner named in causeway.partner_id, and nothing without it;
--   causeway_system   sees every row: workers, the operator, vendors, start-up.
-- Roles belong to the whole server, so they are made before the first migration (db/server.ts), by whoever may.
GRANT USAGE ON SCHEMA public TO causeway_partner, causeway_system;

CREATE FUNCTION current_partner_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('causeway.partner_id', true), '')::uuid;

-- Called once for every table that carries partner_id. A test checks that none was forgotten.
CREATE PROCEDURE own_by_partner(target regclass, partner_may text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format(
    'CREATE POLICY partner_rows ON %s TO causeway_partner
       USING (partner_id = current_partner_id()) WITH CHECK (partner_id = current_partner_id())', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT %s ON %s TO causeway_partner', partner_may, target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
END $$;

-- For tables that no partner request may touch at all.
CREATE PROCEDURE own_by_system(target regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
END $$;

CREATE TABLE partners (
  partner_id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  settlement_chain text NOT NULL,
  wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
  platform_fee_pct numeric(9, 6) NOT NULL CHECK (platform_fee_pct >= 0 AND platform_fee_pct < 100),
  fiat_accounts_enabled boolean NOT NULL DEFAULT false,
  auto_advance boolean NOT NULL DEFAULT true,
  webhook_url text CHECK (length(webhook_url) <= 2048),
  webhook_enabled boolean NOT NULL DEFAULT false,
  webhook_secret_sealed text NOT NULL,
  created_at timestamptz NOT NULL
);
CALL own_by_partner('partners', 'SELECT, UPDATE');

CREATE TABLE vendors (
  vendor_id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
  -- Sandbox vendors sign with a key the sandbox keeps; a real vendor signs for itself.
  simulated_key_sealed text,
  active boolean NOT NULL DEFAULT true,
  online boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL
);
CALL own_by_system('vendors');

-- Keys are random and long, so a plain SHA-256 is as good as a slow hash and costs a microsecond.
CREATE TABLE api_keys (
  key_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('partner', 'widget', 'vendor', 'operator')),
  owner_id uuid,
  key_hash text NOT NULL UNIQUE CHECK (key_hash ~ '^[0-9a-f]{64}$'),
  hint text NOT NULL CHECK (length(hint) <= 32),
  label text NOT NULL DEFAULT '' CHECK (length(label) <= 200),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CHECK ((kind = 'operator') = (owner_id IS NULL))
);
CREATE INDEX api_keys_by_owner ON api_keys (owner_id, created_at);
CALL own_by_system('api_keys');

CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(TG_ARGV[0], '');
  RETURN NULL;
END $$;

CREATE TRIGGER api_keys_changed AFTER INSERT OR UPDATE OR DELETE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys_changed');
CREATE TRIGGER partners_changed AFTER INSERT OR UPDATE OR DELETE ON partners
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys_changed');

-- The business clock: one row for the whole deployment. Production never moves it.
CREATE TABLE business_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  offset_ms bigint NOT NULL DEFAULT 0 CHECK (offset_ms >= 0)
);
INSERT INTO business_clock DEFAULT VALUES;
CALL own_by_system('business_clock');
CREATE TRIGGER business_clock_changed AFTER UPDATE ON business_clock
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('clock_changed');

-- What this deployment generated for itself at first start (local contract addresses and the like).
CREATE TABLE deployment_facts (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);
CALL own_by_system('deployment_facts');
