import type { IncomingHttpHeaders } from 'node:http';
import type { ReceivedWebhook } from './webhook-sink.ts';

/** What the sink does to one request instead of simply answering 200. */
export type Fault =
  | { readonly kind: 'none' }
  /** Answers this status at once: 500, 503, 404, or another 2xx. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** Reads everything and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the headers of a 200 at once, then the body a byte at a time. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly intervalMs: number }
  /** Sends even the status line and the headers a byte at a time. */
  | { readonly kind: 'slow-headers'; readonly intervalMs: number }
  /** Resets the connection (RST, not FIN) before the body is read, or after it is read and recorded. */
  | { readonly kind: 'reset'; readonly when: 'before-body' | 'after-body' }
  /** Promises more body than it sends, then closes the connection. */
  | { readonly kind: 'truncated' }
  /** A 200 with a body of this many bytes, sent as fast as the client reads. */
  | { readonly kind: 'huge'; readonly bytes: number }
  /** Decided once the delivery is known, e.g. by its attempt; a reset then comes after the body in any case. */
  | { readonly kind: 'by-delivery'; readonly choose: (delivery: ReceivedWebhook) => Fault };

export type FaultKind = Exclude<Fault['kind'], 'by-delivery'>;

/** What is known when the headers have arrived. */
interface FaultRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Counted from 1 over the whole sink. */
  readonly requestNumber: number;
}

export type FaultChooser = (request: FaultRequest) => Fault;

export type FaultPlan =
  | Fault
  | FaultChooser
  /** With this probability a request meets one of the faults, each as likely as the other. */
  | { readonly probability: number; readonly mix: readonly Fault[] }
  /** One fault a request, in this order; nothing after the last. */
  | { readonly sequence: readonly Fault[] }
  | { readonly paths: Readonly<Record<string, FaultPlan>>; readonly otherwise?: FaultPlan };

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
