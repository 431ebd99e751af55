import { beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS, brokenPromises, type Round, runHostilePartner } from '../soak/hostile-partner.ts';

/** A few seconds of what `npm run soak:hostile` measures for minutes: what is answered, not how fast. */
describe('a partner that floods its escrow, initiates, opens orders, names silent hosts and guesses keys all at once', () => {
  let rounds: readonly Round[];

  beforeAll(async () => {
    ({ rounds } = await runHostilePartner({
      rounds: 1,
      secondsARound: 2,
      requestsASecond: 20,
      attack: { attacks: ATTACKS, flood: { fakeEvents: 500, dust: 200, everyMs: 2_000 } },
    }));
  }, 120_000);

  it('gets no answer from a broken server, and the other partner gets all it asks for, deposits included', () => {
    expect(rounds.flatMap(brokenPromises)).toEqual([]);
    for (const { measured, deposits } of rounds) {
      const kinds = ['cancel', 'discovery', 'estimate', 'initiate', 'list', 'quote', 'read'];
      expect(Object.keys(measured.latencies).sort()).toEqual(kinds);
      expect(deposits.length).toBeGreaterThan(0);
    }
  });

  it('is told of each limit it meets by the error that was promised for it', () => {
    const { hostile } = rounds.find((round) => round.hostile !== null) as Round;
    const answered = Object.keys(hostile ?? {});
    expect(answered).toEqual(
      expect.arrayContaining([
        'off-ramp initiate 200',
        'on-ramp initiate 200',
        'on-ramp initiate 429 OPEN_ORDER_LIMIT',
        'webhook 429 RATE_LIMITED',
        'wrong key 401 UNAUTHORIZED',
        'wrong key 429 RATE_LIMITED',
        'flooded blocks',
      ]),
    );
  });
});
