-- What keeps the database busy besides the orders themselves (decision 0066).

-- The same sums, each row found by its key: the totals have one for every customer, and were read through for every order
-- that ended. The partner's row has the smallest id and so comes first, as where a claim is opened.
CREATE OR REPLACE FUNCTION subtract_ended_claims() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  line record;
BEGIN
  FOR line IN
    SELECT lines.partner_id, lines.user_id, count(*) AS orders, sum(lines.crypto) AS crypto
      FROM (SELECT partner_id, user_id, crypto FROM ended
            UNION ALL SELECT partner_id, '00000000-0000-0000-0000-000000000000', crypto FROM ended) AS lines
     GROUP BY lines.partner_id, lines.user_id ORDER BY lines.partner_id, lines.user_id
  LOOP
    UPDATE open_order_totals SET open_orders = open_orders - line.orders, crypto = crypto - line.crypto
     WHERE partner_id = line.partner_id AND user_id = line.user_id;
  END LOOP;
  RETURN NULL;
END $$;

-- Whenever a table is vacuumed or analyzed, every connection plans every statement on it anew. At the default of fifty changes a
-- table of a few rows that change with every order would be due each minute, and so would the tables of a young deployment. Not
-- offer_reservations and quote_claims: the plans that end them need to know that few rows have the same quote.
DO $$
DECLARE
  busy text;
BEGIN
  FOREACH busy IN ARRAY ARRAY['offers', 'vendors', 'open_order_totals', 'order_counts', 'rate_book', 'chain_cursors',
    'orders', 'quotes', 'intents', 'events', 'vendor_events', 'webhook_deliveries', 'request_log', 'order_figures',
    'rate_points', 'users']
  LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = 5000,
      autovacuum_analyze_threshold = 10000)', busy);
  END LOOP;
END $$;

-- Whose rows a statement may see is asked once, and not of every row that is looked at.
CREATE OR REPLACE PROCEDURE own_by_partner(target regclass, partner_may text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format(
    'CREATE POLICY partner_rows ON %s TO causeway_partner
       USING (partner_id = (SELECT current_partner_id())) WITH CHECK (partner_id = (SELECT current_partner_id()))', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT %s ON %s TO causeway_partner', partner_may, target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
  CALL show_to_backups(target);
END $$;

DO $$
DECLARE
  policy record;
BEGIN
  FOR policy IN
    SELECT polname, polrelid::regclass AS target,
           regexp_replace(pg_get_expr(polqual, polrelid), '\mcurrent_(partner|vendor)_id\(\)',
             '(SELECT current_\1_id())', 'g') AS seen,
           regexp_replace(pg_get_expr(polwithcheck, polrelid), '\mcurrent_(partner|vendor)_id\(\)',
             '(SELECT current_\1_id())', 'g') AS written
      FROM pg_policy
     WHERE pg_get_expr(polqual, polrelid) ~ 'current_(partner|vendor)_id\(\)'
        OR pg_get_expr(polwithcheck, polrelid) ~ 'current_(partner|vendor)_id\(\)'
  LOOP
    IF policy.seen IS NOT NULL THEN
      EXECUTE format('ALTER POLICY %I ON %s USING (%s)', policy.polname, policy.target, policy.seen);
    END IF;
    IF policy.written IS NOT NULL THEN
      EXECUTE format('ALTER POLICY %I ON %s WITH CHECK (%s)', policy.polname, policy.target, policy.written);
    END IF;
  END LOOP;
END $$;
