import {
  DIFFERENCE_ADVICE,
  DIFFERENCE_KINDS,
  DIFFERENCE_MEANINGS,
  type DifferenceKind,
} from '@causeway/protocol/console';

/** A gateway that is newer than this page may know kinds that the page does not. */
const known = (kind: string): DifferenceKind | undefined => DIFFERENCE_KINDS.find((one) => one === kind);

export function meaningOf(kind: string): string {
  const found = known(kind);
  return found === undefined ? kind : DIFFERENCE_MEANINGS[found];
}

export function adviceOn(kind: string): string {
  const found = known(kind);
  return found === undefined
    ? 'Compare the two records, and find out which of them is right.'
    : DIFFERENCE_ADVICE[found];
}
