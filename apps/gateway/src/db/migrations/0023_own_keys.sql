-- Partners and vendors manage their own API keys at the console: a rolled key ends at a set time, and every key tells when it
-- was last used.

ALTER TABLE api_keys ADD ends_at timestamptz;
ALTER TABLE api_keys ADD replaced_by uuid REFERENCES api_keys;
ALTER TABLE api_keys ADD CHECK ((ends_at IS NULL) = (replaced_by IS NULL));
COMMENT ON COLUMN api_keys.ends_at IS 'Set when the key was rolled: it is refused from then on. Null: until it is revoked.';
COMMENT ON COLUMN api_keys.replaced_by IS 'The key that it was rolled into.';

-- The owner sees all of its keys but their hashes, and takes back or ends nothing else.
CREATE POLICY partner_rows ON api_keys TO causeway_partner
  USING (owner_id = current_partner_id() AND kind IN ('partner', 'widget'))
  WITH CHECK (owner_id = current_partner_id() AND kind IN ('partner', 'widget'));
GRANT SELECT (key_id, kind, owner_id, hint, label, created_at, revoked_at, ends_at, replaced_by), INSERT,
  UPDATE (revoked_at, ends_at, replaced_by) ON api_keys TO causeway_partner;
CALL serve_vendor('api_keys',
  'SELECT (key_id, kind, owner_id, hint, label, created_at, revoked_at, ends_at, replaced_by), INSERT,
   UPDATE (revoked_at, ends_at, replaced_by)',
  'owner_id = current_vendor_id() AND kind = ''vendor''');
COMMENT ON COLUMN request_log.key_hint IS 'Of api_keys, copied: a key may be gone from there, and a list needs no join.';

-- A table of its own: a change of api_keys has every process read all keys again.
CREATE TABLE api_key_uses (
  key_id uuid PRIMARY KEY REFERENCES api_keys,
  owner_id uuid,
  last_used_at timestamptz NOT NULL
);
COMMENT ON TABLE api_key_uses IS
  'When a key was last used, written with the request log. Not asked of the log itself: it is purged, and has no index by key.';
COMMENT ON COLUMN api_key_uses.owner_id IS 'As in api_keys; null for an operator.';
CALL own_by_system('api_key_uses');
CREATE POLICY partner_rows ON api_key_uses FOR SELECT TO causeway_partner USING (owner_id = current_partner_id());
GRANT SELECT ON api_key_uses TO causeway_partner;
CALL show_to_vendor('api_key_uses', 'key_id, owner_id, last_used_at', NULL, 'owner_id = current_vendor_id()');

-- What a partner's or vendor's user changed of its own account stands in the same log as what operators changed of it.
CREATE POLICY partner_rows ON operator_audit FOR INSERT TO causeway_partner
  WITH CHECK (subject = 'partners/' || current_partner_id() AND operator_user_id IS NOT NULL);
GRANT INSERT ON operator_audit TO causeway_partner;
CREATE POLICY vendor_rows ON operator_audit FOR INSERT TO causeway_vendor
  WITH CHECK (subject = 'vendors/' || current_vendor_id() AND operator_user_id IS NOT NULL);
GRANT INSERT ON operator_audit TO causeway_vendor;
COMMENT ON TABLE operator_audit IS
  'What operators changed, when and why, and what owners changed of their own account. Rows are inserted and never changed.';
