import { expect, it } from 'vitest';
import { createSimulatedScreening } from './list-screening.ts';

it.each([
  ['Ada Blocked', 'blocked'],
  ['BlockedCo Ltd', 'blocked'],
  ['Ada Review', 'review'],
  ['Review Blocked', 'blocked'],
  ['Ada Lovelace', 'clear'],
  ['preview', 'clear'],
])('%s gets %s', async (name, status) => {
  expect(await createSimulatedScreening().screen({ kind: 'individual', name })).toMatchObject({
    status,
    hits: [],
  });
});
