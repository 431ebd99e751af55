/** The part of a database client that is used here. */
interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ rows: { quote_id: string; order_id: string }[] }>;
}

/** An order as the books know it, without the market that would be needed to make one. */
export async function writeOrder(admin: SqlClient, userId: string): Promise<string> {
  const quote = await admin.query(
    `INSERT INTO quotes (quote_id, partner_id, user_id, direction, anchor, vendor_id, chain, crypto_currency,
       crypto_decimals, fiat_currency, fiat_decimals, rate, crypto_amount, fiat_amount, platform_fee, platform_fee_pct,
       partner_fee, partner_fee_pct, payment_method_slug, payment_network_slug, created_at, expires_at)
     SELECT gen_random_uuid(), partner_id, user_id, 'onramp', 'fiat', (SELECT vendor_id FROM vendors LIMIT 1), 'base-mainnet',
       'USDC', 6, 'EUR', 2, '1', 1, 1, 0, '0', 0, '0', 'x', 'x', created_at, created_at
       FROM users WHERE user_id = $1 RETURNING quote_id`,
    [userId],
  );
  const order = await admin.query(
    `INSERT INTO orders (order_id, partner_id, user_id, quote_id, direction, order_type, status, facts, chain,
       crypto_currency, crypto_decimals, fiat_currency, fiat_decimals, rate, crypto_amount, fiat_amount, platform_fee,
       platform_fee_pct, partner_fee, partner_fee_pct, payment_method_slug, payment_network_slug, created_at, updated_at)
     SELECT gen_random_uuid(), partner_id, user_id, quote_id, 'onramp', 'onramp', 'awaiting_fiat_transfer', '{}', chain,
       crypto_currency, crypto_decimals, fiat_currency, fiat_decimals, rate, 1, 1, 0, '0', 0, '0', 'x', 'x', created_at,
       created_at
       FROM quotes WHERE quote_id = $1 RETURNING order_id`,
    [quote.rows[0]?.quote_id],
  );
  const [written] = order.rows;
  if (written === undefined) throw new Error('no order was written');
  return written.order_id;
}
