-- What can be traded and at which price: reference data, rates, the offers of vendors and what is reserved of them.
-- Prices and amounts of offers are decimals, in whole fiat and whole crypto.

CREATE TABLE reference_records (
  kind text NOT NULL CHECK (kind ~ '^[a-z][a-z_]{0,39}$'),
  id text NOT NULL CHECK (length(id) BETWEEN 1 AND 120),
  position integer NOT NULL,
  data jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
  source text NOT NULL CHECK (source IN ('files', 'operator')),
  updated_at timestamptz NOT NULL,
  updated_by uuid,
  PRIMARY KEY (kind, id),
  CHECK ((source = 'operator') = (updated_by IS NOT NULL))
);
COMMENT ON TABLE reference_records IS
  'What discovery lists: chains, tokens, currencies, rails, institutions … Rows come from the data files of a release.';
COMMENT ON COLUMN reference_records.position IS
  'Order in the files: the first chain of a token is the one that its aggregate entry shows.';
COMMENT ON COLUMN reference_records.source IS 'operator: changed at run time, so a newer release does not overwrite it.';
CALL own_by_system('reference_records');
CREATE TRIGGER reference_records_changed AFTER INSERT OR UPDATE OR DELETE ON reference_records
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('reference_changed');

CREATE TABLE rate_book (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  legs jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(legs) = 'array'),
  published_at timestamptz,
  holder uuid,
  held_until timestamptz
);
COMMENT ON TABLE rate_book IS 'One row: the rates that every process prices with.';
COMMENT ON COLUMN rate_book.holder IS 'The one worker that may write it, until held_until (machine time).';
INSERT INTO rate_book DEFAULT VALUES;
CALL own_by_system('rate_book');
CREATE TRIGGER rate_book_changed AFTER UPDATE OF legs ON rate_book
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('rates_changed');

CREATE TABLE rate_points (
  base text NOT NULL CHECK (base ~ '^[A-Z0-9]{3,10}$'),
  quote text NOT NULL CHECK (quote ~ '^[A-Z0-9]{3,10}$'),
  at timestamptz NOT NULL,
  rate numeric NOT NULL CHECK (rate > 0),
  PRIMARY KEY (base, quote, at)
);
COMMENT ON TABLE rate_points IS 'Past rates of a pair.';
CREATE INDEX rate_points_by_age ON rate_points (at);
CALL own_by_system('rate_points');

CREATE DOMAIN crypto_code AS text CHECK (VALUE ~ '^[A-Z0-9]{2,10}$');
CREATE DOMAIN fiat_code AS text CHECK (VALUE ~ '^[A-Z]{3}$');
CREATE DOMAIN offer_side AS text CHECK (VALUE IN ('SELL', 'BUY'));
CREATE DOMAIN offer_price AS numeric CHECK (VALUE > 0 AND scale(VALUE) <= 30);
CREATE DOMAIN offer_margin AS numeric CHECK (abs(VALUE) < 100 AND scale(VALUE) <= 6);
CREATE DOMAIN offer_minimum AS numeric CHECK (VALUE >= 0 AND scale(VALUE) <= 6);
CREATE DOMAIN offer_balance AS numeric CHECK (VALUE >= 0 AND scale(VALUE) <= 36);
CREATE DOMAIN reserved_balance AS numeric CHECK (VALUE > 0);
CREATE DOMAIN payment_options AS jsonb CHECK (jsonb_typeof(VALUE) = 'array' AND VALUE <> '[]');

CREATE TABLE offers (
  offer_id uuid PRIMARY KEY,
  vendor_id uuid NOT NULL REFERENCES vendors,
  side offer_side NOT NULL,
  crypto_currency crypto_code NOT NULL,
  fiat_currency fiat_code NOT NULL,
  fixed_price offer_price,
  margin_pct offer_margin,
  min_amount offer_minimum NOT NULL,
  max_amount numeric NOT NULL CHECK (max_amount > 0 AND max_amount >= min_amount AND scale(max_amount) <= 6),
  payment_options payment_options NOT NULL,
  countries text[] NOT NULL,
  available_balance offer_balance NOT NULL,
  authorized boolean NOT NULL DEFAULT false,
  withdrawn boolean NOT NULL DEFAULT false,
  version bigint NOT NULL DEFAULT 1,
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  created_at timestamptz NOT NULL,
  CHECK ((fixed_price IS NULL) <> (margin_pct IS NULL))
);
COMMENT ON TABLE offers IS
  'What vendors offer. Every process keeps all of it in memory and reads what changed when a notification says so.';
COMMENT ON COLUMN offers.side IS
  'What the vendor does with crypto: it sells to an on-ramp customer and buys from an off-ramp customer.';
COMMENT ON COLUMN offers.fixed_price IS 'Fiat per 1 crypto. Either this or margin_pct.';
COMMENT ON COLUMN offers.margin_pct IS 'Percent of the market rate that the vendor keeps.';
COMMENT ON COLUMN offers.payment_options IS
  '[{ "network_slug": …, "method_slugs": "all" | […] }], the preferred ones of the vendor first.';
COMMENT ON COLUMN offers.available_balance IS 'Whole crypto that the vendor can still sell, or still buy.';
COMMENT ON COLUMN offers.authorized IS 'Set by an operator; withdrawn is set by the vendor.';
COMMENT ON COLUMN offers.changed_in IS
  'The transaction of the last change. Readers ask for what changed since the oldest transaction that was open when they '
  'last looked, so a late commit is not missed.';
CREATE INDEX offers_by_vendor ON offers (vendor_id, created_at);
CREATE INDEX offers_by_change ON offers (changed_in);
CALL own_by_system('offers');
CALL serve_vendor('offers', 'SELECT, INSERT, UPDATE', 'vendor_id = current_vendor_id()');

CREATE FUNCTION mark_offer_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.changed_in := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER offers_marked BEFORE UPDATE ON offers FOR EACH ROW EXECUTE FUNCTION mark_offer_change();
CREATE TRIGGER offers_changed AFTER INSERT OR UPDATE OR DELETE ON offers
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('offers_changed');

CREATE TABLE offer_reservations (
  quote_id uuid NOT NULL,
  offer_id uuid NOT NULL REFERENCES offers,
  crypto reserved_balance NOT NULL,
  reserved_at timestamptz NOT NULL,
  PRIMARY KEY (quote_id, offer_id)
);
COMMENT ON TABLE offer_reservations IS
  'Crypto of an offer that is reserved for an order. Transactions of partners may not touch offers, so the system reserves '
  'before the order is written, and releases where no order came of it or the order stopped.';
COMMENT ON COLUMN offer_reservations.quote_id IS
  'No foreign key: the row of the quote is locked by the transaction that waits for the reservation.';
COMMENT ON COLUMN offer_reservations.reserved_at IS
  'Machine time: it tells an abandoned reservation from one whose order is being written.';
CREATE INDEX offer_reservations_by_age ON offer_reservations (reserved_at);
CALL own_by_system('offer_reservations');

-- Reserves what an order needs of an offer; false where too little is left or the offer is gone. Several attempts on one
-- quote may run at once: the one that finds a reservation takes nothing more.
CREATE FUNCTION reserve_offer(of_quote uuid, of_offer uuid, wanted numeric) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE offer_reservations SET reserved_at = clock_timestamp() WHERE quote_id = of_quote AND offer_id = of_offer;
  IF FOUND THEN RETURN true; END IF;
  UPDATE offers SET available_balance = available_balance - wanted
   WHERE offer_id = of_offer AND authorized AND NOT withdrawn AND available_balance >= wanted;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO offer_reservations (quote_id, offer_id, crypto, reserved_at)
    VALUES (of_quote, of_offer, wanted, clock_timestamp())
    ON CONFLICT (quote_id, offer_id) DO NOTHING;
  IF NOT FOUND THEN
    UPDATE offers SET available_balance = available_balance + wanted WHERE offer_id = of_offer;
  END IF;
  RETURN true;
END $$;

CREATE TABLE remote_offer_reservations (
  reservation_id uuid PRIMARY KEY,
  quote_id uuid NOT NULL,
  offer_id uuid NOT NULL,
  crypto numeric NOT NULL CHECK (crypto > 0),
  ending text CHECK (ending IN ('release', 'consume')),
  reserved_at timestamptz NOT NULL
);
COMMENT ON TABLE remote_offer_reservations IS
  'As offer_reservations, at an external offers backend. Written before the backend is asked, so that a reservation whose '
  'answer never came is known, and ended there until the backend has confirmed it.';
COMMENT ON COLUMN remote_offer_reservations.ending IS 'How it is being ended; null while it counts.';
COMMENT ON COLUMN remote_offer_reservations.reserved_at IS 'Machine time, as in offer_reservations.';
CREATE UNIQUE INDEX remote_offer_reservations_open ON remote_offer_reservations (quote_id, offer_id) WHERE ending IS NULL;
CREATE INDEX remote_offer_reservations_by_age ON remote_offer_reservations (reserved_at);
CALL own_by_system('remote_offer_reservations');
