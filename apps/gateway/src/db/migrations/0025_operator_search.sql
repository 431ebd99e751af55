-- What an operator looks for: orders by any hash, address or reference, and the audit log by who, what and when.

CREATE INDEX orders_by_reference_alone ON orders (reference_id) WHERE reference_id IS NOT NULL;
CREATE INDEX orders_by_escrow ON orders (lower(escrow ->> 'address')) WHERE escrow IS NOT NULL;
CREATE INDEX deposit_observations_by_transaction ON deposit_observations (tx_hash);

CREATE INDEX operator_audit_by_time ON operator_audit (at DESC, audit_id DESC);
CREATE INDEX operator_audit_by_action ON operator_audit (action text_pattern_ops, at);
CREATE INDEX operator_audit_by_key ON operator_audit (operator_key_id, at) WHERE operator_key_id IS NOT NULL;
CREATE INDEX operator_audit_by_user ON operator_audit (operator_user_id, at) WHERE operator_user_id IS NOT NULL;
