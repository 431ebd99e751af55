import { withDatabase } from '../../bench/database.ts';
import { soakWebhooks } from './webhook-soak.ts';

/** `npm run soak:webhooks [-- events]`: 100,000 events unless told otherwise; exits with 1 when a promise was broken. */
const events = Number(process.argv[2] ?? 100_000);
const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`${events} events, FAULT_SEED=${seed}`);
const result = await withDatabase((databaseUrl) =>
  soakWebhooks({
    databaseUrl,
    events,
    seed,
    kills: Math.max(5, Math.floor(events / 1_000)),
    timeoutMs: 60_000 + events * 30,
    say: (text) => console.log(text),
  }),
);
console.log(JSON.stringify(result, null, 2));
const kept =
  result.acknowledged === events &&
  result.undelivered === 0 &&
  result.wronglySigned + result.alteredBodies + result.begunOutOfOrder + result.arrivedOutOfOrder === 0;
// The sink's and the workers' timers would keep the process for ever.
process.exit(kept ? 0 : 1);
