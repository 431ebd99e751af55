-- The tables of 0030 and four more, after more changes (decision 0066): at thirty orders a second nearly all of them were due every
-- minute, and for a second of each minute every connection planned anew. PostgreSQL by itself waits as long where a table has
-- 250,000 rows.
DO $$
DECLARE
  busy regclass;
BEGIN
  FOR busy IN
    SELECT oid FROM pg_class WHERE 'autovacuum_vacuum_threshold=5000' = ANY (reloptions)
    UNION ALL SELECT unnest(ARRAY['event_stream', 'request_log_counters', 'rate_limit_windows', 'api_key_uses']::regclass[])
  LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_threshold = 50000,
      autovacuum_analyze_threshold = 50000)', busy);
  END LOOP;
END $$;
