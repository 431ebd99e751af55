-- What a vendor, or a customer of the widget, may see of an order's customer, quote, events … is asked of `orders`, row by row
-- (decision 0072). PostgreSQL may answer that by reading all orders of the vendor once instead, which is quicker for many rows;
-- but a connection keeps the plan, made while there are few orders, and nearly every statement is about one row. OFFSET 0 is how
-- a subquery says that it is to be asked each time.
DO $$
DECLARE
  policy record;
  seen text;
BEGIN
  FOR policy IN
    SELECT polname, polrelid::regclass AS target, pg_get_expr(polqual, polrelid) AS seen,
           pg_get_expr(polwithcheck, polrelid) AS written
      FROM pg_policy WHERE pg_get_expr(polqual, polrelid) ~ 'EXISTS'
  LOOP
    -- It stands last everywhere: alone in its parentheses, or within one pair more.
    seen := regexp_replace(policy.seen, CASE WHEN policy.seen LIKE '(EXISTS%' THEN '(\)\))$' ELSE '(\)\)\))$' END, ' OFFSET 0\1');
    EXECUTE format('ALTER POLICY %I ON %s USING (%s)', policy.polname, policy.target, seen);
    IF policy.written = policy.seen THEN
      EXECUTE format('ALTER POLICY %I ON %s WITH CHECK (%s)', policy.polname, policy.target, seen);
    END IF;
  END LOOP;
END $$;
