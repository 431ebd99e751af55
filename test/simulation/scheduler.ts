/**
 * Decides what happens next. Every call that leaves a simulated process, to the database or to a node, waits at a gate;
 * nothing goes on until the scheduler opens one. All choices follow from the seed and the number of the step, and not
 * from how many choices were made before: a step that is left out leaves the others as they were.
 */
export interface Gate {
  /** The same in every run of the same seed. */
  readonly key: string;
  readonly process: string;
  readonly what: string;
  open(fault: Fault): void;
}

/** What befalls a call: nothing; it never arrives; it is carried out and its answer is lost; its process dies. */
export type Fault = 'none' | 'lost' | 'answer lost' | 'crash before' | 'crash after';
export const FAULTS: readonly Exclude<Fault, 'none'>[] = [
  'lost',
  'answer lost',
  'crash before',
  'crash after',
];

export class Scheduler {
  readonly gates: Gate[] = [];
  readonly #counts = new Map<string, number>();

  /** Settles when the scheduler lets the call through, and says what becomes of it. */
  wait(process: string, what: string): Promise<Fault> {
    const count = (this.#counts.get(process) ?? 0) + 1;
    this.#counts.set(process, count);
    return new Promise((resolve) => {
      const gate: Gate = {
        key: `${process} ${count}`,
        process,
        what,
        open: (fault) => {
          this.gates.splice(this.gates.indexOf(gate), 1);
          resolve(fault);
        },
      };
      this.gates.push(gate);
    });
  }

  /** A process that died waits for nothing any more. */
  forget(process: string): void {
    const left = this.gates.filter((gate) => gate.process !== process);
    this.gates.splice(0, this.gates.length, ...left);
  }
}

/**
 * Lets everything run that can: nothing in a simulated world waits for a socket, a thread or a timer, so when the event loop has
 * come round, all that is left waits at a gate.
 */
export function quiescent(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Numbers that follow from a seed, a step and a name. */
export function draw(seed: number, step: number, name: string): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(step + 1, 0xc2b2ae35);
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The dice of one step. */
export interface Dice {
  below(name: string, limit: number): number;
  chance(name: string, percent: number): boolean;
  pick<T>(name: string, items: readonly T[]): T;
}

export function diceOf(seed: number, step: number): Dice {
  const below = (name: string, limit: number) => draw(seed, step, name) % limit;
  return {
    below,
    chance: (name, percent) => below(name, 1_000) < percent * 10,
    pick: (name, items) => items[below(name, items.length)] as never,
  };
}

export interface Weighted {
  readonly key: string;
  readonly weight: number;
}

/** Each choice draws for itself and the best wins, so that the loss of another choice does not change the winner. */
export function choose<C extends Weighted>(seed: number, step: number, choices: readonly C[]): C | undefined {
  let best: C | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const choice of choices) {
    if (choice.weight <= 0) continue;
    const uniform = (draw(seed, step, choice.key) + 1) / 4_294_967_297;
    const score = -Math.log(uniform) / choice.weight;
    if (score < bestScore) [best, bestScore] = [choice, score];
  }
  return best;
}
