-- What a vendor gets of the tables of 0001 to 0005 because an order is its own at the moment; tables with a vendor_id and
-- later tables say it beside the table. The policy of orders applies in these subqueries too, so that they see its orders only.

-- What serving an order writes.
CALL serve_vendor('intents', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = (intents.payload ->> ''order_id'')::uuid AND o.partner_id = intents.partner_id)');
CALL serve_vendor('events', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = events.subject_id AND o.partner_id = events.partner_id)');
CALL serve_vendor('ledger_entries', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = ledger_entries.order_id AND o.partner_id = ledger_entries.partner_id)');
CALL serve_vendor('ledger_postings', 'SELECT, INSERT',
  'EXISTS (SELECT FROM ledger_entries e WHERE e.entry_id = ledger_postings.entry_id AND e.partner_id = ledger_postings.partner_id)');

-- What it has to know about the order.
CALL show_to_vendor('partners', 'partner_id, wallet_address, webhook_enabled', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.vendor_id = current_vendor_id() AND o.partner_id = partners.partner_id)');
CALL show_to_vendor('quotes', 'quote_id, serving_offer_id, recipient_destination_id', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.quote_id = quotes.quote_id)');
-- Whether the payee or a wallet of the order is still clear.
CALL show_to_vendor('screening_cases', 'screening_status, subject_kind, subject_key', NULL,
  'current_vendor_id() IS NOT NULL AND subject_kind = ''wallet'' OR EXISTS (SELECT FROM orders o JOIN quotes q ON q.quote_id = o.quote_id
     WHERE screening_cases.subject_key IN (o.payment_details_id::text, q.recipient_destination_id::text))');

-- The customer and the payee. The program decrypts their data once the order allows it.
CALL show_to_vendor('users',
  'user_id, partner_id, reference_id, data_key_sealed, profile_sealed, kyc_status, kyc_updated_at, rejection_reasons,
   erased_at, created_at', 'user_id',
  'EXISTS (SELECT FROM orders o WHERE o.user_id = users.user_id)');
CALL show_to_vendor('recipients',
  'recipient_id, partner_id, recipient_kind, status, screening_status, screening_round, current_version,
   recipient_country, data_key_sealed, erased_at, created_at, updated_at', 'recipient_id',
  'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipients.recipient_id)');
CALL show_to_vendor('recipient_versions',
  'recipient_id, version, partner_id, recipient_country, recipient_id_type, fields_sealed, created_at', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipient_versions.recipient_id)');
CALL show_to_vendor('recipient_destinations',
  'recipient_destination_id, version, partner_id, recipient_id, rail, currency, country_code, institution_id, format_id,
   beneficiary_type, details_sealed, created_at', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipient_destinations.recipient_id)');
CALL show_to_vendor('payment_details',
  'payment_details_id, seal_id, partner_id, user_id, rail, currency, country_code, institution_id, format_id,
   beneficiary_type, details_sealed, validated, created_at', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.user_id = payment_details.user_id
       AND o.payment_details_id = payment_details.payment_details_id)');
