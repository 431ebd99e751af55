import type { ReconciliationVerdict } from '@causeway/protocol';
import type { DifferenceKind } from '@causeway/protocol/console';
import type { UnitOfWork } from './unit-of-work.ts';

/** Two records of one thing that do not agree. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** What of its kind it is: with the kind, it names the difference for as long as there is one. */
  readonly subject: string;
  readonly orderId: string | null;
  readonly about: string | null;
  readonly asset: string | null;
  readonly escrowAddress: string | null;
  readonly expected: string;
  readonly found: string;
  /** Null where no amount differs. */
  readonly difference: string | null;
}

export function difference(
  kind: DifferenceKind,
  subject: string,
  compared: Pick<Difference, 'expected' | 'found'> & Partial<Difference>,
): Difference {
  const nothing = { orderId: null, about: null, asset: null, escrowAddress: null, difference: null };
  return { ...nothing, ...compared, kind, subject };
}

/** What a look at some rows found. */
export interface Sweep {
  readonly checked: number;
  readonly found: readonly Difference[];
  /** Where something outside did not answer. */
  readonly unreachable: number;
  /** From where the next look goes on; null where everything was looked at. */
  readonly next: string | null;
}

export interface SecondLook {
  readonly verdict: ReconciliationVerdict;
  /** As it is now; absent where the two agree. */
  readonly found?: Difference;
}

/** One comparison of two records, a bounded number of rows at a time. */
export interface ReconciliationPart {
  readonly name: string;
  readonly kinds: readonly DifferenceKind[];
  sweep(cursor: string | null): Promise<Sweep>;
  /** Looks at one difference again. */
  again(subject: string, kind: DifferenceKind): Promise<SecondLook>;
  /** Where looking once more may end the difference: asks for it, with the difference that is kept. It must not repeat itself. */
  mend?(unit: UnitOfWork, found: Difference): Promise<void>;
}

export function secondLook(found: readonly Difference[], subject: string, kind: DifferenceKind): SecondLook {
  const still = found.find((one) => one.subject === subject && one.kind === kind);
  return still === undefined ? { verdict: 'equal' } : { verdict: 'different', found: still };
}
