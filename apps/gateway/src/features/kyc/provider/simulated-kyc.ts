import { createHash, createHmac } from 'node:crypto';
import { testOutcomeOf } from '@causeway/protocol';
import {
  type CallbackReading,
  type KycCallback,
  type KycOutcome,
  type KycProvider,
  KycProviderError,
  type KycVerdict,
} from '../../../ports/kyc-provider.ts';
import { headerOf, isSignedBy, MAX_CALLBACK_BYTES, parseObject } from './callbacks.ts';

const REASONS: Partial<Record<KycOutcome, readonly string[]>> = {
  verification_refused: ['DOCUMENT_FORGED'],
  resubmission_requested: ['DOCUMENT_UNREADABLE'],
};
const OUTCOMES: readonly KycOutcome[] = [
  'verification_passed',
  'verification_refused',
  'resubmission_requested',
  'review_requested',
];

/** How badly the provider behaves; percentages of submissions or deliveries. */
export interface SimulatedBehaviour {
  readonly decisionDelayMs: number;
  /** Waits between attempts to deliver a callback; after the last one it is given up, as real providers do. */
  readonly retryDelaysMs: readonly number[];
  /** Starting fails before anything was taken. */
  readonly outagePct: number;
  /** Starting is taken, but the answer is lost. */
  readonly lostAnswerPct: number;
  readonly duplicatePct: number;
  /** A decision is followed by the delivery of an earlier one that it has replaced. */
  readonly outOfOrderPct: number;
}

export const CALM: SimulatedBehaviour = {
  decisionDelayMs: 500,
  retryDelaysMs: [1_000, 5_000, 30_000, 300_000],
  outagePct: 0,
  lostAnswerPct: 0,
  duplicatePct: 0,
  outOfOrderPct: 0,
};

/** What a provider does on a bad day: for tests of faults. */
export const TROUBLED: SimulatedBehaviour = {
  ...CALM,
  outagePct: 30,
  lostAnswerPct: 20,
  duplicatePct: 50,
  outOfOrderPct: 50,
};

export interface SimulatedKycOptions {
  /** Business time, epoch milliseconds: moving the sandbox clock makes decisions due. */
  readonly now: () => number;
  readonly secret: string;
  /** Equal seeds misbehave equally. */
  readonly seed: string;
  /** Carries a callback to our own endpoint; answers its HTTP status. */
  readonly deliver: (callback: KycCallback) => Promise<number>;
  readonly hostedUrl: (submissionId: string) => string;
  readonly behaviour?: SimulatedBehaviour;
}

export interface SimulatedKyc extends KycProvider {
  /** Delivers what is due and answers how many callbacks were tried. Nothing happens between two calls. */
  deliverDue(): Promise<number>;
  /** When something will be due, or null when nothing waits. */
  nextDueAtMs(): number | null;
}

interface Delivery {
  readonly verdict: KycVerdict;
  readonly dueAtMs: number;
  readonly attempt: number;
}

const SIGNATURE_HEADER = 'x-simulated-kyc-signature';
const REFERENCE_PREFIX = 'simkyc_';

/**
 * A provider that never leaves the process and still behaves like one: it decides later, calls back with a signature,
 * retries, repeats itself and fails, all by the seed. A verification is written in its reference, so that its result
 * can be read after a restart, when callbacks that waited in memory are gone.
 */
export function createSimulatedKyc(options: SimulatedKycOptions): SimulatedKyc {
  const { now, secret, seed, deliver, hostedUrl, behaviour = CALM } = options;
  const waiting: Delivery[] = [];
  const references = new Map<string, string>();
  const tries = new Map<string, number>();

  /** The same question always gets the same answer, whatever happened in between. */
  function happens(percentage: number, ...question: readonly (string | number)[]): boolean {
    const digest = createHash('sha256')
      .update(JSON.stringify([seed, ...question]))
      .digest();
    return digest.readUInt32BE(0) % 100 < percentage;
  }

  function enqueue(verdict: KycVerdict, dueAtMs: number): void {
    waiting.push({ verdict, dueAtMs, attempt: 1 });
  }

  function begin(submissionId: string, lastName: string): string {
    const outcome =
      testOutcomeOf('kyc_last_name', (value) => value === lastName.trim()) ?? 'verification_passed';
    const reference = writeReference({
      submissionId,
      outcome,
      decidedAtMs: now() + behaviour.decisionDelayMs,
    });
    const verdict = verdictOf(reference, readReference(reference));
    remember(references, submissionId, reference);
    enqueue(verdict, verdict.decidedAtMs);
    if (happens(behaviour.duplicatePct, 'duplicate', submissionId)) enqueue(verdict, verdict.decidedAtMs + 1);
    if (happens(behaviour.outOfOrderPct, 'order', submissionId)) {
      const replaced: KycVerdict = {
        ...verdict,
        eventId: `${verdict.eventId}_replaced`,
        outcome: 'review_requested',
        rejectionReasons: [],
        decidedAtMs: verdict.decidedAtMs - 1,
      };
      enqueue(replaced, verdict.decidedAtMs + 2);
    }
    return reference;
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const status = await deliver(sign(delivery.verdict, secret)).catch(() => 0);
    const delay = behaviour.retryDelaysMs[delivery.attempt - 1];
    if ((status >= 200 && status < 300) || delay === undefined) return;
    waiting.push({ ...delivery, dueAtMs: now() + delay, attempt: delivery.attempt + 1 });
  }

  return {
    name: 'simulated',
    async startVerification({ submissionId, method, person }) {
      const attempts = (tries.get(submissionId) ?? 0) + 1;
      remember(tries, submissionId, attempts);
      if (happens(behaviour.outagePct, 'outage', submissionId, attempts)) {
        throw new KycProviderError('unavailable', 'the simulated provider is out of order');
      }
      const reference = references.get(submissionId) ?? begin(submissionId, person.lastName);
      if (happens(behaviour.lostAnswerPct, 'lost', submissionId, attempts)) {
        throw new KycProviderError('unavailable', 'the answer of the simulated provider was lost');
      }
      const verificationUrl = method === 'hosted_link' ? hostedUrl(submissionId) : null;
      return { submissionId, reference, verificationUrl };
    },
    async readResult({ submissionId, reference }) {
      const started = readReference(reference);
      if (started.submissionId !== submissionId) {
        throw new KycProviderError('refused', 'the reference is of another submission');
      }
      return now() < started.decidedAtMs ? null : verdictOf(reference, started);
    },
    readCallback: (callback) => readSimulated(callback, secret),
    async deliverDue() {
      const due = waiting
        .filter(({ dueAtMs }) => dueAtMs <= now())
        .sort((one, other) => one.dueAtMs - other.dueAtMs);
      for (const delivery of due) waiting.splice(waiting.indexOf(delivery), 1);
      for (const delivery of due) await attempt(delivery);
      return due.length;
    },
    nextDueAtMs: () => (waiting.length === 0 ? null : Math.min(...waiting.map(({ dueAtMs }) => dueAtMs))),
  };
}

/** A sandbox may run for months: the oldest is dropped, for by then it is not repeated any more. */
const MAX_REMEMBERED = 10_000;

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_REMEMBERED && oldest !== undefined) map.delete(oldest);
}

interface SimulatedVerification {
  readonly submissionId: string;
  readonly outcome: KycOutcome;
  readonly decidedAtMs: number;
}

const writeReference = (verification: SimulatedVerification): string =>
  REFERENCE_PREFIX + Buffer.from(JSON.stringify(verification)).toString('base64url');

function readReference(reference: string): SimulatedVerification {
  const value = reference.startsWith(REFERENCE_PREFIX)
    ? parseObject(Buffer.from(reference.slice(REFERENCE_PREFIX.length), 'base64url'))
    : undefined;
  const outcome = OUTCOMES.find((known) => known === value?.outcome);
  if (
    typeof value?.submissionId !== 'string' ||
    typeof value.decidedAtMs !== 'number' ||
    outcome === undefined
  ) {
    throw new KycProviderError('refused', 'the reference is not of the simulated provider');
  }
  return { submissionId: value.submissionId, outcome, decidedAtMs: value.decidedAtMs };
}

function verdictOf(reference: string, verification: SimulatedVerification): KycVerdict {
  const { submissionId, outcome, decidedAtMs } = verification;
  return {
    eventId: `simkyc_${submissionId}`,
    submissionId,
    reference,
    outcome,
    rejectionReasons: REASONS[outcome] ?? [],
    decidedAtMs,
  };
}

function sign(verdict: KycVerdict, secret: string): KycCallback {
  const rawBody = Buffer.from(JSON.stringify(verdict));
  const signature = createHmac('sha256', secret).update(rawBody).digest('hex');
  return { headers: { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature }, rawBody };
}

function readSimulated(callback: KycCallback, secret: string): CallbackReading {
  const { rawBody } = callback;
  if (
    rawBody.length > MAX_CALLBACK_BYTES ||
    !isSignedBy(secret, 'sha256', rawBody, headerOf(callback, SIGNATURE_HEADER))
  ) {
    return { kind: 'refused', reason: 'bad_signature' };
  }
  const body = parseObject(rawBody);
  const outcome = OUTCOMES.find((known) => known === body?.outcome);
  const { eventId, submissionId, reference, decidedAtMs, rejectionReasons } = body ?? {};
  if (
    outcome === undefined ||
    typeof eventId !== 'string' ||
    typeof submissionId !== 'string' ||
    typeof reference !== 'string' ||
    typeof decidedAtMs !== 'number' ||
    !Array.isArray(rejectionReasons)
  ) {
    return { kind: 'refused', reason: 'malformed' };
  }
  const reasons = rejectionReasons.filter((reason) => typeof reason === 'string');
  return {
    kind: 'verdict',
    verdict: { eventId, submissionId, reference, outcome, rejectionReasons: reasons, decidedAtMs },
  };
}
