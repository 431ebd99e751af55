export type Better = 'higher' | 'lower';

/** One figure of the report. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  /** `ops/s`, `ratio`, `MiB`, `ms`. */
  readonly unit: string;
  readonly better: Better;
  /** Null where the figure is only reported. */
  readonly target: number | null;
  /** Null where there is no target. */
  readonly passed: boolean | null;
  /** What the figure was made from; saved, not printed. */
  readonly details: Readonly<Record<string, number | string | readonly number[]>>;
}

export interface FigureInput {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly better: Better;
  readonly target?: number | undefined;
  readonly details?: Measurement['details'];
}

/** Any figure, however it was measured, judged against its target; reaching the target exactly is enough. */
export function figure(input: FigureInput): Measurement {
  const { name, value, unit, better, target = null, details = {} } = input;
  return {
    name,
    value,
    unit,
    better,
    target,
    passed: target === null ? null : reaches(value, target, better),
    details,
  };
}

// Written so that NaN, the result of a measurement gone wrong, reaches nothing.
function reaches(value: number, target: number, better: Better): boolean {
  return better === 'higher' ? value >= target : value <= target;
}
