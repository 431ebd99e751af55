-- Every account holder has a case, the customer's own name as any other (decision 0073): those that have none wait for the
-- worker, and are not quoted until it has looked. The system's role: row security binds the owner too.
SET LOCAL ROLE causeway_system;
WITH opened AS (
  INSERT INTO screening_cases
         (case_id, partner_id, subject_kind, subject_key, screening_status, screening_round, created_at, updated_at)
  SELECT uuidv7(), d.partner_id, 'payment_details', d.payment_details_id::text, 'pending', 1, now(), now()
    FROM payment_details d
   WHERE NOT EXISTS (SELECT 1 FROM screening_cases c
                      WHERE c.subject_kind = 'payment_details' AND c.subject_key = d.payment_details_id::text)
  RETURNING case_id, partner_id)
INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, payload, run_at, created_at)
SELECT uuidv7(), partner_id, 'screening.screen', case_id || ':1', jsonb_build_object('case_id', case_id, 'round', 1), now(), now()
  FROM opened;
RESET ROLE;
