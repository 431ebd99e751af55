import { statement } from '../../db/statement.ts';

/** SQL of orders that customers open in the widget, beyond that of orders and quotes. */

/** Who else uses a wallet. Another partner than the order's own: a customer may well be paid where its partner is. */
export const usesOfWallet = statement<
  [wallet: string, partnerId: string, chainIds: readonly number[]],
  { of_vendor: boolean; of_partner: boolean; of_own_partner: boolean; of_escrow: boolean }
>(
  'widget_orders.uses_of_wallet',
  `SELECT EXISTS (SELECT FROM vendors WHERE lower(wallet_address) = lower($1)) AS of_vendor,
          EXISTS (SELECT FROM partners WHERE lower(wallet_address) = lower($1) AND partner_id <> $2) AS of_partner,
          EXISTS (SELECT FROM partners WHERE lower(wallet_address) = lower($1) AND partner_id = $2) AS of_own_partner,
          EXISTS (SELECT FROM escrow_watches WHERE chain_id = ANY($3::bigint[]) AND address = $1) AS of_escrow`,
);
