import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { firstOf } from './signals.ts';

it('a signal of several is aborted with the first, for its reason, and forgets the others', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const signal = firstOf(one.signal, two.signal);
  expect(signal.aborted).toBe(false);
  const reason = new Error('enough');
  two.abort(reason);
  expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  for (const { signal: given } of [one, two]) expect(getEventListeners(given, 'abort')).toEqual([]);
  one.abort(new Error('too late'));
  expect(signal.reason).toBe(reason);
});

it('a signal of one that has been aborted is aborted from the start', () => {
  const reason = new Error('before');
  const open = new AbortController();
  const signal = firstOf(open.signal, AbortSignal.abort(reason));
  expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  expect(getEventListeners(open.signal, 'abort')).toEqual([]);
});
