import { describe, expect, it } from 'vitest';
import { cloneDatabase } from '../harness/database.ts';
import { soakWebhooks } from '../soak/webhook-soak.ts';

const EVENTS = 2_000;
/** Starting a worker costs more than its deliveries; the command of its own kills a hundred. */
const KILLS = 4;
const SEED = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('webhooks to a receiver that fails three times in ten, by workers killed at random', () => {
  // Proves C6 rule 3.
  it(`every event arrives, rightly signed and unaltered, first attempts in order (FAULT_SEED=${SEED})`, {
    timeout: 180_000,
  }, async () => {
    const result = await soakWebhooks({
      databaseUrl: await cloneDatabase(),
      events: EVENTS,
      seed: SEED,
      workers: 2,
      kills: KILLS,
      timeoutMs: 150_000,
    });
    expect(result).toMatchObject({
      acknowledged: EVENTS,
      undelivered: 0,
      wronglySigned: 0,
      alteredBodies: 0,
      begunOutOfOrder: 0,
      arrivedOutOfOrder: 0,
      killed: KILLS,
    });
    // The faults must have hit something, or this proves nothing.
    expect(result.faultyAnswers).toBeGreaterThan(EVENTS / 5);
  });
});
