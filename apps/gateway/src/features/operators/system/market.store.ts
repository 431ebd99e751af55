import { orderStatusesWithOutcome } from '@causeway/protocol';
import { sqlWords, statement } from '../../../db/statement.ts';

/** A statement of its own for what hangs on one record of the catalogue. */
const ENDED = sqlWords(orderStatusesWithOutcome('settled', 'stopped'));

export const referenceUse = statement<[kind: string, id: string], { offers: number; open_orders: number }>(
  'reference.use',
  `SELECT (SELECT count(*)::int FROM offers o WHERE o.authorized AND NOT o.withdrawn AND CASE $1
             WHEN 'rails' THEN o.payment_options @> jsonb_build_array(jsonb_build_object('network_slug', $2::text))
             WHEN 'institutions' THEN o.payment_options @> jsonb_build_array(jsonb_build_object('method_slugs', jsonb_build_array($2::text)))
             WHEN 'fiat_currencies' THEN o.fiat_currency = $2
             WHEN 'assets' THEN o.crypto_currency = $2
             WHEN 'countries' THEN $2 = ANY(o.countries)
             ELSE false END) AS offers,
          (SELECT count(*)::int FROM orders o WHERE o.status NOT IN (${ENDED}) AND CASE $1
             WHEN 'rails' THEN o.payment_network_slug = $2
             WHEN 'institutions' THEN o.payment_method_slug = $2
             WHEN 'fiat_currencies' THEN o.fiat_currency = $2
             WHEN 'assets' THEN o.crypto_currency = $2
             WHEN 'chains' THEN o.chain = $2
             ELSE false END) AS open_orders`,
);
