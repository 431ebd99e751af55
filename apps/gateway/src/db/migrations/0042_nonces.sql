-- The next nonce of a wallet at the forwarder is the lowest that nothing signed holds: a request that has lapsed leaves its nonce to
-- the next one, or those behind it could never be executed. What is spent holds its nonce too, until every partner’s count is
-- past it. Counted over all partners, like highest_live_nonce, which processes of the release before still call.
CREATE FUNCTION next_forward_nonce(of_chain bigint, of_forwarder text, of_sender text) RETURNS numeric
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH unused AS (
    SELECT coalesce(max(next_nonce), 0) AS nonce FROM forwarder_nonces
     WHERE chain_id = of_chain AND forwarder = of_forwarder AND sender = of_sender),
  held AS (
    SELECT f.nonce FROM forward_authorizations f, unused u
     WHERE f.chain_id = of_chain AND f.forwarder = of_forwarder AND f.sender = of_sender AND f.nonce >= u.nonce
       AND f.status IN ('authorized', 'spent'))
  SELECT min(candidate.nonce) FROM (SELECT nonce FROM unused UNION ALL SELECT nonce + 1 FROM held) candidate
   WHERE NOT EXISTS (SELECT FROM held WHERE held.nonce = candidate.nonce);
$$;
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION next_forward_nonce(bigint, text, text) OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE ALL ON FUNCTION next_forward_nonce(bigint, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION next_forward_nonce(bigint, text, text) TO causeway_partner, causeway_customer, causeway_system;
