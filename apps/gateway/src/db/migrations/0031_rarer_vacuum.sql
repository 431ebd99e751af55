-- As 0030, after more changes and for more tables (decision 0066): at thirty orders a second all of these were due every minute,
-- and for a second of each minute every connection planned anew. PostgreSQL by itself waits as long where a table has 250,000 rows.
-- Those that are only counted up change in place and need no vacuum at all.
DO $$
DECLARE
  busy text;
BEGIN
  FOREACH busy IN ARRAY ARRAY['offers', 'vendors', 'open_order_totals', 'order_counts', 'rate_book', 'chain_cursors',
    'orders', 'quotes', 'intents', 'events', 'event_stream', 'vendor_events', 'webhook_deliveries', 'request_log',
    'request_log_counters', 'order_figures', 'rate_points', 'rate_limit_windows', 'api_key_uses', 'users']
  LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_threshold = 50000,
      autovacuum_analyze_threshold = 50000)', busy);
  END LOOP;
END $$;
