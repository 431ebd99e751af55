-- An operator has seen that an effect failed and what to do about it: it is no longer listed as stuck.
ALTER TABLE intents ADD COLUMN closed_at timestamptz;
DROP INDEX intents_open;
CREATE INDEX intents_stuck ON intents (intent_id) WHERE status IN ('failed', 'unknown') AND closed_at IS NULL;
