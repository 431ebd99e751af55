import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { startChainlessGateway } from './chainless-gateway.ts';

/** The candidate: a whole gateway with as many offers for one pair as asked for. */

/** All of one pair, the hardest case, with margins from 0.3 % up. */
const replaceOffers = statement<[count: number, at: Date]>(
  'bench.replace_offers',
  `WITH gone AS (UPDATE offers SET withdrawn = true)
   INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, margin_pct, min_amount, max_amount,
     payment_options, countries, available_balance, authorized, created_at)
   SELECT gen_random_uuid(), v.ids[1 + n % cardinality(v.ids)], 'SELL', 'USDC', 'EUR', trim_scale(round(0.3 + (n * 7919 % 100003) / 100000.0, 6)),
     5, 100000, '[{"network_slug": "iban-sepa", "method_slugs": "all"}]', '{DE,FR,NL}', 1000000, true, $2
     FROM generate_series(1, $1::int) n, (SELECT array_agg(vendor_id) AS ids FROM vendors) v`,
);

const { BENCH_HOME: home = '', BENCH_USER: userId = '', BENCH_OFFERS: offers = '100' } = process.env;
const { deps, listen } = await startChainlessGateway(home, userId);
await deps.db.query(SYSTEM, replaceOffers, [Number(offers), deps.clock.date()]);
while (deps.offers.book().offerCount !== Number(offers)) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
process.send?.({ url: await listen() });
