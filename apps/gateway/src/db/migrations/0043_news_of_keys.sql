-- What keys carry of their partner makes every process load all keys again; its webhook and its limits are no news to them, and
-- a partner changes its webhook as often as it likes.
DROP TRIGGER partners_changed ON partners;
CREATE TRIGGER partners_changed
  AFTER INSERT OR DELETE
     OR UPDATE OF name, settlement_chain, wallet_address, platform_fee_pct, fiat_accounts_enabled, widget_origins ON partners
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys_changed');
