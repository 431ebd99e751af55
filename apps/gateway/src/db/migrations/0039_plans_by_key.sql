-- What PostgreSQL shall believe of tables that it has not looked at yet (decision 0072). By itself it takes the partner of a row
-- for as good a key as the id of the row, reads all rows of a partner to find one order, and keeps that plan while the table grows.
-- Said here: a partner, or a vendor, has a fifth of all rows. The first ANALYZE replaces it. To be called by whatever migration
-- adds such a table; db/plans.test.ts says so where one is forgotten.
CREATE PROCEDURE expect_rows_of_owners() LANGUAGE plpgsql AS $$
DECLARE
  owned record;
BEGIN
  FOR owned IN
    SELECT c.relname::text AS name, a.attname::text AS owner
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('partner_id', 'vendor_id')
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relrowsecurity AND c.reltuples < 0
  LOOP
    PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', owned.name, 'attname', owned.owner,
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 5::real);
  END LOOP;
END $$;
CALL expect_rows_of_owners();
