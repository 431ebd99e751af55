import { type KycStatus, kycMachine } from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KycCallback, KycSubmission, KycVerdict } from '../../../ports/kyc-provider.ts';
import { type AppliedVerdict, isNews } from './callbacks.ts';
import { CALM, createSimulatedKyc, type SimulatedBehaviour, TROUBLED } from './simulated-kyc.ts';

function submissionOf(lastName: string, submissionId = 'sub-1'): KycSubmission {
  return {
    submissionId,
    method: 'direct_data',
    person: {
      firstName: 'Ada',
      lastName,
      dateOfBirth: '1990-12-10',
      nationality: 'GB',
      idType: 'PASSPORT',
      idNumber: '123456789',
      idIssueCountry: 'GB',
      address: '1 Sample Street',
      city: 'London',
      postalCode: 'N1',
      countryCode: 'GB',
    },
    documents: [],
  };
}

/** A provider, a clock in the test's hand, and a receiver that answers what it is told. */
function setUp(
  behaviour: SimulatedBehaviour = CALM,
  seed = 'seed',
  answer: (tries: number) => number = () => 200,
) {
  let time = 1_000_000;
  const received: KycCallback[] = [];
  const options = {
    now: () => time,
    secret: 'secret',
    seed,
    behaviour,
    hostedUrl: (id: string) => `https://kyc.example/${id}`,
    deliver: async (callback: KycCallback) => {
      received.push(callback);
      return answer(received.length);
    },
  };
  const provider = createSimulatedKyc(options);
  return {
    provider,
    received,
    restarted: () => createSimulatedKyc(options),
    verdicts: () =>
      received
        .map((callback) => provider.readCallback(callback))
        .flatMap((reading): KycVerdict[] => (reading.kind === 'verdict' ? [reading.verdict] : [])),
    async pass(milliseconds: number) {
      time += milliseconds;
      return provider.deliverDue();
    },
    /** Lets time run until nothing waits. */
    async finish() {
      for (let next = provider.nextDueAtMs(); next !== null; next = provider.nextDueAtMs()) {
        time = Math.max(time, next);
        await provider.deliverDue();
      }
    },
  };
}

describe('on a calm day', () => {
  it.each([
    ['Rejected', 'verification_refused', 'REJECTED'],
    ['Review', 'review_requested', 'UNDER_REVIEW'],
    ['Resubmit', 'resubmission_requested', 'VERIFICATION_REJECTED'],
    ['Lovelace', 'verification_passed', 'VERIFIED'],
    ['Reviewer', 'verification_passed', 'VERIFIED'],
  ])('the last name %s gets %s', async (lastName, outcome, status) => {
    const { provider, pass, verdicts } = setUp();
    await provider.startVerification(submissionOf(lastName));
    await pass(CALM.decisionDelayMs);
    expect(verdicts()).toMatchObject([{ outcome, submissionId: 'sub-1' }]);
    expect(
      kycMachine.transitions.find(
        ({ from, on, by }) =>
          on === outcome && by.includes('provider') && [from].flat().includes('IN_PROGRESS'),
      )?.to,
    ).toBe(status);
  });

  it('decides later, never at once', async () => {
    const { provider, pass, received } = setUp();
    const started = await provider.startVerification(submissionOf('Lovelace'));
    expect(await provider.readResult(started)).toBeNull();
    expect(await pass(CALM.decisionDelayMs - 1)).toBe(0);
    expect(received).toEqual([]);
    expect(await pass(1)).toBe(1);
    expect(await provider.readResult(started)).toMatchObject({ outcome: 'verification_passed' });
  });

  it('a repeated start is the same verification, with one callback', async () => {
    const { provider, finish, received } = setUp();
    const first = await provider.startVerification(submissionOf('Lovelace'));
    expect(await provider.startVerification(submissionOf('Lovelace'))).toEqual(first);
    await finish();
    expect(received).toHaveLength(1);
  });

  it('a hosted link leads to the configured page', async () => {
    const started = await setUp().provider.startVerification({
      ...submissionOf('Lovelace'),
      method: 'hosted_link',
    });
    expect(started.verificationUrl).toBe('https://kyc.example/sub-1');
  });

  it('the result is readable after a restart, and the reference tells no name', async () => {
    const { provider, restarted, pass } = setUp();
    const started = await provider.startVerification(submissionOf('Resubmit'));
    await pass(CALM.decisionDelayMs);
    expect(await restarted().readResult(started)).toEqual(await provider.readResult(started));
    expect(Buffer.from(started.reference.slice(7), 'base64url').toString()).not.toMatch(
      /Ada|Resubmit|123456789/,
    );
  });

  it('a reference of another submission or of none is refused', async () => {
    const { provider } = setUp();
    const { reference } = await provider.startVerification(submissionOf('Lovelace'));
    for (const wrong of [
      { submissionId: 'sub-2', reference },
      { submissionId: 'sub-1', reference: 'simkyc_x' },
    ]) {
      await expect(provider.readResult(wrong)).rejects.toMatchObject({ failure: 'refused' });
    }
  });
});

describe('delivery', () => {
  it('is retried by the schedule until it is acknowledged', async () => {
    const { provider, pass, received } = setUp(CALM, 'seed', (tries) => (tries < 3 ? 503 : 200));
    await provider.startVerification(submissionOf('Lovelace'));
    await pass(500);
    expect(await pass(999)).toBe(0);
    expect(await pass(1)).toBe(1);
    expect(await pass(5_000)).toBe(1);
    expect(received).toHaveLength(3);
    expect(provider.nextDueAtMs()).toBeNull();
  });

  it('is given up after the last try, and the result can still be read', async () => {
    const { provider, finish, received } = setUp(CALM, 'seed', () => 500);
    const started = await provider.startVerification(submissionOf('Lovelace'));
    await finish();
    expect(received).toHaveLength(1 + CALM.retryDelaysMs.length);
    expect(await provider.readResult(started)).toMatchObject({ outcome: 'verification_passed' });
  });

  it('is signed: any change or another secret is refused', async () => {
    const { provider, finish, received } = setUp();
    await provider.startVerification(submissionOf('Rejected'));
    await finish();
    const [callback] = received;
    const forged = Buffer.from(
      Buffer.from(callback!.rawBody).toString().replace('verification_refused', 'verification_passed'),
    );
    expect(provider.readCallback({ ...callback!, rawBody: forged })).toEqual({
      kind: 'refused',
      reason: 'bad_signature',
    });
    expect(provider.readCallback({ ...callback!, headers: {} })).toEqual({
      kind: 'refused',
      reason: 'bad_signature',
    });
  });
});

/** Starts as a worker does: again after every failure. */
async function startAtLast(start: () => Promise<unknown>): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const failed = await start().then(
      () => false,
      () => true,
    );
    if (!failed) return tries;
  }
}

describe('on a bad day', () => {
  it('every submission still ends as its name says, whatever is lost, repeated or late', async () => {
    const lastNames = fc.constantFrom('Lovelace', 'Rejected', 'Resubmit', 'Review');
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.array(lastNames, { minLength: 1, maxLength: 8 }),
        async (seed, names) => {
          const { provider, finish, verdicts } = setUp(TROUBLED, seed, (tries) =>
            tries % 3 === 0 ? 500 : 200,
          );
          for (const [place, name] of names.entries()) {
            await startAtLast(() => provider.startVerification(submissionOf(name, `sub-${place}`)));
          }
          await finish();
          const statuses = names.map((_, place): KycStatus => {
            let status: KycStatus = 'IN_PROGRESS';
            let applied: AppliedVerdict | null = null;
            for (const verdict of verdicts().filter(({ submissionId }) => submissionId === `sub-${place}`)) {
              if (!isNews(verdict, `sub-${place}`, applied)) continue;
              const row = kycMachine.transitions.find(
                ({ from, on, by }) =>
                  on === verdict.outcome && by.includes('provider') && [from].flat().includes(status),
              );
              expect(row).toBeDefined();
              status = row!.to;
              applied = verdict;
            }
            return status;
          });
          const expected = {
            Lovelace: 'VERIFIED',
            Rejected: 'REJECTED',
            Resubmit: 'VERIFICATION_REJECTED',
            Review: 'UNDER_REVIEW',
          };
          expect(statuses).toEqual(names.map((name) => expected[name]));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('outages, lost answers, duplicates and late verdicts all do happen, the same way for the same seed', async () => {
    const run = async () => {
      const { provider, finish, verdicts } = setUp(TROUBLED, 'one seed');
      const tries: number[] = [];
      for (let place = 0; place < 40; place += 1) {
        tries.push(
          await startAtLast(() => provider.startVerification(submissionOf('Lovelace', `sub-${place}`))),
        );
      }
      await finish();
      return { tries, events: verdicts().map(({ eventId }) => eventId) };
    };
    const { tries, events } = await run();
    expect(Math.max(...tries)).toBeGreaterThan(1);
    expect(new Set(events).size).toBeLessThan(events.length);
    expect(events.some((event) => event.endsWith('_replaced'))).toBe(true);
    expect(await run()).toEqual({ tries, events });
  });
});

describe('whether a verdict is news', () => {
  const verdict: KycVerdict = {
    eventId: 'b',
    submissionId: 'sub-1',
    reference: 'r',
    outcome: 'verification_passed',
    rejectionReasons: [],
    decidedAtMs: 100,
  };
  it.each<[string, boolean, AppliedVerdict | null, string]>([
    ['the first one is', true, null, 'sub-1'],
    ['a later one is', true, { eventId: 'a', submissionId: 'sub-1', decidedAtMs: 99 }, 'sub-1'],
    ['the same again is not', false, { eventId: 'b', submissionId: 'sub-1', decidedAtMs: 100 }, 'sub-1'],
    ['an earlier one is not', false, { eventId: 'c', submissionId: 'sub-1', decidedAtMs: 101 }, 'sub-1'],
    ['one of an old submission is not', false, null, 'sub-2'],
    [
      'the first of a new submission is',
      true,
      { eventId: 'z', submissionId: 'sub-0', decidedAtMs: 999 },
      'sub-1',
    ],
  ])('%s', (_name, expected, applied, current) => {
    expect(isNews(verdict, current, applied)).toBe(expected);
  });
});
