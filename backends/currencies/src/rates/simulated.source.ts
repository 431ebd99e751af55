import { hash } from 'node:crypto';
import type { Clock, Quote, RateSource } from './rate-source.port.ts';
import { formatRate, parseRate } from './ratio.ts';
import { FLOATING_ANCHORS, PEGGED_ANCHORS, STABLECOIN_ANCHORS } from './simulated-anchors.ts';

export interface SimulatedSourceOptions {
  readonly clock: Clock;
  readonly seed: string;
  readonly name?: string;
  /** Time moves in steps: within one step every process quotes the same. */
  readonly stepMs?: number;
  /** Further dollar-based currencies, or other anchors for known ones. */
  readonly anchors?: Readonly<Record<string, string>>;
}

interface Instrument {
  readonly code: string;
  readonly anchor: string;
  /** The furthest the price goes from its anchor. */
  readonly amplitudePpm: bigint;
  readonly isToken: boolean;
}

const FLOATING_AMPLITUDE_PPM = 8_000n;
const PEGGED_AMPLITUDE_PPM = 300n;
const STABLECOIN_AMPLITUDE_PPM = 400n;

/** Slow, middling and quick movements, and how much of the amplitude each may use (per cent, 100 together). */
const WAVES: readonly { readonly periodMs: number; readonly share: bigint }[] = [
  { periodMs: 6 * 3_600_000, share: 60n },
  { periodMs: 45 * 60_000, share: 30n },
  { periodMs: 5 * 60_000, share: 10n },
];

const NOISE_SCALE = 1_000_000n;
const BILLION = 1_000_000_000n;
/** As a market would print it. */
const PRICE_DIGITS = 8;

/**
 * A market made of nothing but a seed and the time. Each wave runs straight between points drawn by hashing (seed, currency,
 * wave, position), so the price wanders around its anchor, always comes back to it, never leaves the amplitude, and every
 * process that knows the seed sees the same price at the same time without talking to another.
 */
export function createSimulatedSource(options: SimulatedSourceOptions): RateSource {
  const { clock, seed } = options;
  const stepMs = options.stepMs ?? 5_000;
  if (!Number.isSafeInteger(stepMs) || stepMs < 1)
    throw new RangeError('a step lasts at least a millisecond');
  const instruments = listInstruments(options.anchors ?? {});
  return {
    name: options.name ?? 'simulated',
    kind: 'simulated',
    async fetch() {
      const observedAt = Math.floor(clock.now() / stepMs) * stepMs;
      return instruments.map((instrument) => quoteAt(seed, instrument, observedAt));
    },
  };
}

function listInstruments(extra: Readonly<Record<string, string>>): Instrument[] {
  const of = (
    anchors: Readonly<Record<string, string>>,
    amplitudePpm: bigint,
    isToken: boolean,
  ): Instrument[] =>
    Object.entries(anchors).map(([code, anchor]) => ({ code, anchor, amplitudePpm, isToken }));
  const all = [
    ...of(FLOATING_ANCHORS, FLOATING_AMPLITUDE_PPM, false),
    ...of(PEGGED_ANCHORS, PEGGED_AMPLITUDE_PPM, false),
    ...of(STABLECOIN_ANCHORS, STABLECOIN_AMPLITUDE_PPM, true),
    ...of(extra, FLOATING_AMPLITUDE_PPM, false),
  ];
  return [...new Map(all.map((instrument) => [instrument.code, instrument])).values()];
}

function quoteAt(seed: string, instrument: Instrument, observedAt: number): Quote {
  const anchor = parseRate(instrument.anchor);
  if (anchor === undefined) throw new RangeError(`the anchor of ${instrument.code} is not a rate`);
  let offset = 0n;
  for (const [wave, { periodMs, share }] of WAVES.entries()) {
    offset += share * noiseAt(`${seed}:${instrument.code}:${wave}`, periodMs, observedAt);
  }
  // share (of 100) x noise (of a million) x amplitude (of a million), as parts of a billion.
  const offsetPpb = (offset * instrument.amplitudePpm) / (100n * (NOISE_SCALE / 1_000n));
  const price = { num: anchor.num * (BILLION + offsetPpb), den: anchor.den * BILLION };
  const [base, quote] = instrument.isToken ? [instrument.code, 'USD'] : ['USD', instrument.code];
  return { base, quote, rate: formatRate(price, PRICE_DIGITS), observedAt };
}

/** Between -1,000,000 and 1,000,000. */
function noiseAt(stream: string, periodMs: number, time: number): bigint {
  const position = Math.floor(time / periodMs);
  const from = drawnPoint(stream, position);
  const to = drawnPoint(stream, position + 1);
  return from + ((to - from) * BigInt(time - position * periodMs)) / BigInt(periodMs);
}

function drawnPoint(stream: string, position: number): bigint {
  const drawn = BigInt(`0x${hash('sha256', `${stream}:${position}`).slice(0, 12)}`);
  return (drawn % (2n * NOISE_SCALE + 1n)) - NOISE_SCALE;
}
