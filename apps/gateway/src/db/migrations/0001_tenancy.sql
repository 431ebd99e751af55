-- Roles, row-level security, and the callers of the API: partners, vendors and their keys.
--
-- Four roles do all the work. None of them owns a table or may bypass row-level security:
--   causeway_partner  sees the rows of the partner in causeway.partner_id, and nothing where it is not set;
--   causeway_vendor   sees what concerns the vendor in causeway.vendor_id, and nothing where it is not set;
--   causeway_system   sees every row: workers, operators, start-up;
--   causeway_backup   reads every row and writes none, so that
--                     `pg_dump --role=causeway_backup --enable-row-security` needs no superuser.
-- Roles belong to the whole server, so they are created before the first migration (db/server.ts).
GRANT USAGE ON SCHEMA public TO causeway_partner, causeway_vendor, causeway_system, causeway_backup;

-- Which migrations were applied is read by a restore and by processes whose login owns nothing.
GRANT SELECT ON schema_migrations TO causeway_system, causeway_backup;

CREATE FUNCTION current_partner_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('causeway.partner_id', true), '')::uuid;

CREATE FUNCTION current_vendor_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('causeway.vendor_id', true), '')::uuid;

-- How tables are given to the roles. Every table calls own_by_partner or own_by_system once; db/schema.test.ts finds a
-- table that was left out. A vendor gets nothing by default: serve_vendor and show_to_vendor name what it gets.

-- Called by the next two.
CREATE PROCEDURE show_to_backups(target regclass) LANGUAGE plpgsql AS $$
DECLARE
  counter regclass;
BEGIN
  EXECUTE format('GRANT SELECT ON %s TO causeway_backup', target);
  EXECUTE format('CREATE POLICY backup_rows ON %s FOR SELECT TO causeway_backup USING (true)', target);
  FOR counter IN SELECT objid FROM pg_depend
                  WHERE refobjid = target AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i')
                    AND objid IN (SELECT oid FROM pg_class WHERE relkind = 'S') LOOP
    EXECUTE format('GRANT SELECT ON SEQUENCE %s TO causeway_backup', counter);
  END LOOP;
END $$;

-- For a table with partner_id: the system has every row, a partner its own with the rights in partner_may.
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
  CALL show_to_backups(target);
END $$;

-- For a table that no request of a partner may touch.
CREATE PROCEDURE own_by_system(target regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
  CALL show_to_backups(target);
END $$;

-- Gives a vendor the rights in vendor_may on the rows that the condition `whose` selects.
CREATE PROCEDURE serve_vendor(target regclass, vendor_may text, whose text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY vendor_rows ON %s TO causeway_vendor USING (%s) WITH CHECK (%s)', target, whose, whose);
  EXECUTE format('GRANT %s ON %s TO causeway_vendor', vendor_may, target);
END $$;

-- Gives a vendor columns to read of the rows that `whose` selects. Where `lockable` names a column, it may also lock these
-- rows while it decides: a row lock needs the UPDATE right on some column, and the policy lets no update pass.
CREATE PROCEDURE show_to_vendor(target regclass, columns text, lockable text, whose text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY vendor_rows ON %s FOR SELECT TO causeway_vendor USING (%s)', target, whose);
  EXECUTE format('GRANT SELECT (%s) ON %s TO causeway_vendor', columns, target);
  IF lockable IS NOT NULL THEN
    EXECUTE format('CREATE POLICY vendor_locks ON %s FOR UPDATE TO causeway_vendor USING (%s) WITH CHECK (false)',
      target, whose);
    EXECUTE format('GRANT UPDATE (%s) ON %s TO causeway_vendor', lockable, target);
  END IF;
END $$;

-- Trigger functions that many tables use.

-- Notifies the channel that the trigger names: every process reads again what it keeps in memory.
CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(TG_ARGV[0], '');
  RETURN NULL;
END $$;

-- Append-only tables. The owner of a table is not bound by grants, so this is a trigger and not only a missing grant.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;

CREATE TABLE partners (
  partner_id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  settlement_chain text NOT NULL,
  wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
  platform_fee_pct numeric(9, 6) NOT NULL CHECK (platform_fee_pct >= 0 AND platform_fee_pct < 100),
  fiat_accounts_enabled boolean NOT NULL DEFAULT false,
  collection_enabled boolean NOT NULL DEFAULT false,
  auto_advance boolean NOT NULL DEFAULT true,
  open_order_limit integer CHECK (open_order_limit >= 0),
  held_value_limit bigint CHECK (held_value_limit >= 0),
  customer_open_order_limit integer CHECK (customer_open_order_limit >= 0),
  customer_held_value_limit bigint CHECK (customer_held_value_limit >= 0),
  webhook_url text CHECK (length(webhook_url) <= 2048),
  webhook_enabled boolean NOT NULL DEFAULT false,
  webhook_secret_sealed text NOT NULL,
  webhook_previous_secret_sealed text,
  webhook_previous_secret_until timestamptz,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE partners IS 'Businesses that integrate the partner API; the tenants of a deployment.';
COMMENT ON COLUMN partners.fiat_accounts_enabled IS 'Whether accounts may be opened for its customers.';
COMMENT ON COLUMN partners.collection_enabled IS
  'Whether a payment into a fiat account that pays no order is collected for the partner.';
COMMENT ON COLUMN partners.auto_advance IS 'Sandbox: simulated vendors, banks and bridges act by themselves.';
COMMENT ON COLUMN partners.open_order_limit IS 'Null: the limit of the deployment. Likewise the three below.';
COMMENT ON COLUMN partners.held_value_limit IS 'Most that its open orders may be worth together, in whole US dollars.';
COMMENT ON COLUMN partners.webhook_previous_secret_sealed IS 'Also signs until webhook_previous_secret_until, after a rotation.';
CALL own_by_partner('partners', 'SELECT, UPDATE');
CREATE TRIGGER partners_changed AFTER INSERT OR UPDATE OR DELETE ON partners
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys_changed');

CREATE TABLE vendors (
  vendor_id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  kind text NOT NULL DEFAULT 'p2p' CHECK (kind IN ('p2p', 'direct')),
  wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
  simulated_key_sealed text,
  active boolean NOT NULL DEFAULT true,
  online boolean NOT NULL DEFAULT true,
  completed_orders integer NOT NULL DEFAULT 0 CHECK (completed_orders >= 0),
  failed_orders integer NOT NULL DEFAULT 0 CHECK (failed_orders >= 0),
  disputed_orders integer NOT NULL DEFAULT 0 CHECK (disputed_orders >= 0),
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE vendors IS 'Liquidity providers: they sell crypto to on-ramp customers and buy it from off-ramp customers.';
COMMENT ON COLUMN vendors.kind IS 'direct: an automated provider, which sends settlement notifications.';
COMMENT ON COLUMN vendors.simulated_key_sealed IS
  'Sandbox: the key a simulated vendor signs with. A real vendor signs with a key of its own.';
COMMENT ON COLUMN vendors.active IS 'Set by an operator; online is set by the vendor.';
COMMENT ON COLUMN vendors.completed_orders IS 'Reputation, counted by a worker (orders.counted_status). Likewise failed and disputed.';
CALL own_by_system('vendors');
CALL serve_vendor('vendors', 'SELECT, UPDATE (online)', 'vendor_id = current_vendor_id()');
CREATE TRIGGER vendors_changed AFTER INSERT OR UPDATE OR DELETE ON vendors
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('offers_changed');

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
COMMENT ON TABLE api_keys IS 'Keys of partners, their widgets, vendors and operators.';
COMMENT ON COLUMN api_keys.owner_id IS 'The partner or the vendor; null for an operator.';
COMMENT ON COLUMN api_keys.key_hash IS
  'SHA-256: keys are long and random, so a slow hash would protect no better and cost more on every request.';
COMMENT ON COLUMN api_keys.hint IS 'Part of the key, to recognise it in a list.';
CREATE INDEX api_keys_by_owner ON api_keys (owner_id, created_at);
CALL own_by_system('api_keys');
CREATE TRIGGER api_keys_changed AFTER INSERT OR UPDATE OR DELETE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys_changed');
