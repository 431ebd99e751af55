-- Sandbox: whether simulated actors act by themselves for a partner. Asked where an order changes, in the scope of whoever changes
-- it: a vendor sees no settings of partners.
CREATE FUNCTION actors_may_act(of_partner uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT coalesce((SELECT auto_advance FROM partners WHERE partner_id = of_partner), false)
$$;
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION actors_may_act(uuid) OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE ALL ON FUNCTION actors_may_act(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION actors_may_act(uuid)
  TO causeway_partner, causeway_customer, causeway_vendor, causeway_system;
