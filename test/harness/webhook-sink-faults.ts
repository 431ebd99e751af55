import type { Fault, FaultChooser, FaultPlan } from './webhook-sink-types.ts';

export const NO_FAULT: Fault = { kind: 'none' };

/** Every kind of failure that an unlucky receiver shows, short enough to be used by the thousand. */
export const COMMON_FAULTS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'hang' },
  { kind: 'slow', bytes: 5, intervalMs: 20 },
  { kind: 'reset', when: 'before-body' },
  { kind: 'reset', when: 'after-body' },
  { kind: 'truncated' },
];

/**
 * Turns a plan into a chooser. Draws depend on the seed and on how many requests the same part of the plan has seen;
 * each path draws from a stream of its own, so traffic on one path does not change what another path meets.
 */
export function compileFaultPlan(plan: FaultPlan, seed: number): FaultChooser {
  if (typeof plan === 'function') return plan;
  if ('kind' in plan) return () => plan;
  if ('sequence' in plan) {
    let next = 0;
    return () => plan.sequence[next++] ?? NO_FAULT;
  }
  if ('mix' in plan) return compileMix(plan.mix, plan.probability, seed);
  const byPath = new Map(
    Object.entries(plan.paths).map(([path, child]) => [path, compileFaultPlan(child, seed ^ hashText(path))]),
  );
  const otherwise = compileFaultPlan(plan.otherwise ?? NO_FAULT, seed);
  return (request) => (byPath.get(request.path) ?? otherwise)(request);
}

function compileMix(mix: readonly Fault[], probability: number, seed: number): FaultChooser {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError('probability must be within 0..1');
  if (mix.length === 0) throw new RangeError('a mix needs at least one fault');
  const random = seededRandom(seed);
  return () => {
    // Both are drawn every time, so that another probability leaves the later draws in step.
    const [chance, pick] = [random(), random()];
    return chance < probability ? (mix[Math.floor(pick * mix.length)] ?? NO_FAULT) : NO_FAULT;
  };
}

/** A small seeded generator (a Weyl sequence with two rounds of mixing), evenly spread over [0, 1). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x1_0000_0000;
  };
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
