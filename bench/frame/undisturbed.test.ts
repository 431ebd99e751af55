import { describe, expect, it } from 'vitest';
import { playUndisturbed } from './undisturbed.ts';

/** A host that takes these shares of each round. */
function host(shares: readonly number[]) {
  let [stolen, all, reads] = [0, 0, 0];
  return () => {
    if (reads++ % 2 === 1) {
      stolen += (shares[(reads - 2) / 2] ?? 0) * 1_000;
      all += 1_000;
    }
    return { stolen, all };
  };
}

const play = async (n: number) => n;

describe('rounds on a machine that is shared with others', () => {
  it('are as many as wanted where nothing disturbs them', async () => {
    const rounds = await playUndisturbed({ wanted: 3 }, play, host([0, 0, 0]));
    expect(rounds.map(({ round }) => round)).toEqual([0, 1, 2]);
  });

  it('are played again where the host gave the time to others', async () => {
    const rounds = await playUndisturbed({ wanted: 3 }, play, host([0, 0.1, 0, 0.002]));
    expect(rounds.map(({ round }) => round)).toEqual([0, 2, 3]);
  });

  it('are the least disturbed where the host never leaves the machine alone, and come to an end', async () => {
    const rounds = await playUndisturbed({ wanted: 2 }, play, host([0.5, 0.1, 0.4, 0.3, 0.05, 0.2]));
    expect(rounds).toEqual([
      { round: 1, stolen: expect.closeTo(0.1), slower: 0 },
      { round: 4, stolen: expect.closeTo(0.05), slower: 0 },
    ]);
  });

  it('are played again where the same work took more of the processor’s time', async () => {
    const costs = [1.4, 1, 1.5, 1.05, 1.08];
    const costOf = (n: number) => costs[n] ?? 0;
    const rounds = await playUndisturbed({ wanted: 3, costOf }, play, host([]));
    expect(rounds.map(({ round }) => round)).toEqual([1, 3, 4]);
    expect(rounds.map(({ slower }) => slower)).toEqual([0, expect.closeTo(0.05), expect.closeTo(0.08)]);
  });

  it('tell what the kernel of this machine counts', async () => {
    const [round] = await playUndisturbed({ wanted: 1 }, play);
    expect(round?.stolen).toBeGreaterThanOrEqual(0);
    expect(round?.stolen).toBeLessThanOrEqual(1);
  });

  it('plays none again for less than what is said to be a disturbance', async () => {
    const rounds = await playUndisturbed({ wanted: 2, disturbed: 0.02 }, play, host([0.01, 0.015]));
    expect(rounds.map(({ round }) => round)).toEqual([0, 1]);
  });
});
