import { expect, it } from 'vitest';
import { nearMatches } from '../near-matches.ts';
import { EVENT_TYPES, NO_STATUS, PLANS, type Plan } from './plans.ts';

it('every way to a status is one chain of steps that ends there', () => {
  const faults: string[] = [];
  for (const type of EVENT_TYPES) {
    const plan: Plan = PLANS[type];
    for (const [status, ways] of Object.entries(plan.ways)) {
      if (typeof ways === 'string') continue;
      for (const { direction, steps } of ways) {
        let at: string | undefined;
        for (const { says, from, to, calls } of steps) {
          if (from !== undefined && !from.includes(at ?? ''))
            faults.push(`${type} ${status}: ${says} from ${at}`);
          if (calls.length === 0) faults.push(`${type} ${status}: ${says} calls nothing`);
          at = to ?? at;
        }
        if (direction !== undefined && at !== status) faults.push(`${type} ${status} ends in ${at}`);
        if (direction === undefined && status === NO_STATUS && plan.usual !== NO_STATUS) faults.push(type);
      }
    }
  }
  expect(faults).toEqual([]);
});

it('near matches are those spelled alike, closest first', () => {
  expect(nearMatches('order.statuschanged', EVENT_TYPES)[0]).toBe('order.status.changed');
  expect(nearMatches('kyc', EVENT_TYPES)).toEqual(['user.kyc.updated']);
  expect(nearMatches('zebra', EVENT_TYPES)).toEqual([]);
});
