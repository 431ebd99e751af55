-- What vendors offer. Every process keeps all of it in memory; what changed is read again when a notification says so.
ALTER TABLE vendors
  -- direct: an automated provider, which sends settlement notifications.
  ADD COLUMN kind text NOT NULL DEFAULT 'p2p' CHECK (kind IN ('p2p', 'direct')),
  ADD COLUMN completed_orders integer NOT NULL DEFAULT 0 CHECK (completed_orders >= 0),
  ADD COLUMN failed_orders integer NOT NULL DEFAULT 0 CHECK (failed_orders >= 0),
  ADD COLUMN disputed_orders integer NOT NULL DEFAULT 0 CHECK (disputed_orders >= 0);

CREATE TABLE offers (
  offer_id uuid PRIMARY KEY,
  vendor_id uuid NOT NULL REFERENCES vendors,
  -- What the vendor does with crypto: it sells to an on-ramp customer and buys from an off-ramp customer.
  side text NOT NULL CHECK (side IN ('SELL', 'BUY')),
  crypto_currency text NOT NULL CHECK (crypto_currency ~ '^[A-Z0-9]{2,10}$'),
  fiat_currency text NOT NULL CHECK (fiat_currency ~ '^[A-Z]{3}$'),
  -- Fiat per 1 crypto, or percent of the market's rate that the vendor keeps: one of the two.
  fixed_price numeric CHECK (fixed_price > 0 AND scale(fixed_price) <= 30),
  margin_pct numeric CHECK (abs(margin_pct) < 100 AND scale(margin_pct) <= 6),
  min_amount numeric NOT NULL CHECK (min_amount >= 0 AND scale(min_amount) <= 6),
  max_amount numeric NOT NULL CHECK (max_amount > 0 AND max_amount >= min_amount AND scale(max_amount) <= 6),
  -- [{ "network_slug": …, "method_slugs": "all" | […] }], the vendor's preferred ones first.
  payment_options jsonb NOT NULL CHECK (jsonb_typeof(payment_options) = 'array' AND payment_options <> '[]'),
  countries text[] NOT NULL,
  -- Whole crypto the vendor can still sell, or still buy.
  available_balance numeric NOT NULL CHECK (available_balance >= 0 AND scale(available_balance) <= 36),
  authorized boolean NOT NULL DEFAULT false,
  withdrawn boolean NOT NULL DEFAULT false,
  version bigint NOT NULL DEFAULT 1,
  -- The transaction of the last change. Readers ask for what changed since the oldest transaction that was still open when
  -- they last looked, so a late commit is never missed.
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  created_at timestamptz NOT NULL,
  CHECK ((fixed_price IS NULL) <> (margin_pct IS NULL))
);
CREATE INDEX offers_by_vendor ON offers (vendor_id, created_at);
CREATE INDEX offers_by_change ON offers (changed_in);
CALL own_by_system('offers');

CREATE FUNCTION mark_offer_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.changed_in := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER offers_marked BEFORE UPDATE ON offers FOR EACH ROW EXECUTE FUNCTION mark_offer_change();
CREATE TRIGGER offers_changed AFTER INSERT OR UPDATE OR DELETE ON offers
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('offers_changed');
CREATE TRIGGER vendors_changed AFTER INSERT OR UPDATE OR DELETE ON vendors
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('offers_changed');

-- What a quote fixed of its offer. Offers may live in another backend, so these are names and not references.
ALTER TABLE quotes
  ADD COLUMN offer_id uuid,
  ADD COLUMN offer_version bigint,
  ADD COLUMN provider_scope text NOT NULL DEFAULT 'all' CHECK (provider_scope IN ('all', 'p2p', 'direct')),
  ADD COLUMN has_fiat_settlement_notification boolean NOT NULL DEFAULT false,
  -- The offer whose balance the order took; another than the quoted one where its vendor could no longer serve.
  ADD COLUMN serving_offer_id uuid;

-- Crypto of an offer that an order has, or is about to have. Offers are nobody's rows and partners' transactions may not
-- touch them, so a hold is taken by the system before the order is written, and let go again where no order came of it or
-- the order stopped. It refers to no quote by key: that row is locked by the very transaction that waits for the hold.
CREATE TABLE offer_holds (
  quote_id uuid NOT NULL,
  offer_id uuid NOT NULL REFERENCES offers,
  crypto numeric NOT NULL CHECK (crypto > 0),
  -- Machine time: it tells a forgotten hold from one whose order is being written.
  held_at timestamptz NOT NULL,
  PRIMARY KEY (quote_id, offer_id)
);
CREATE INDEX offer_holds_by_age ON offer_holds (held_at);
CALL own_by_system('offer_holds');
