-- Whether the release of an escrow can be executed is a fact the machines decide by, so it is kept with the others. An
-- order whose dispute was decided before anybody had signed goes back to where a signature can still be given.
UPDATE orders o SET facts = facts || jsonb_build_object(
  'awardedToBuyer', false,
  'releaseSigned', EXISTS (
    SELECT FROM escrow_signatures s WHERE s.order_id = o.order_id AND s.purpose = 'release'));

UPDATE orders SET status = 'dispute_started', facts = facts || '{"awardedToBuyer": true}'
 WHERE status = 'fiat_received_confirmed' AND timeline @> '[{"status": "dispute_started"}]'
   AND NOT (facts->>'releaseSigned')::boolean;
