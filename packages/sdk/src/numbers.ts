/**
 * A number that was given as an option, or a TypeError that names it. NaN, as an unset variable becomes it, compares as false
 * with everything: it would switch a limit off. `Infinity` says of a time or a count that there is none.
 */
export function requireNumber(name: string, given: number, { finite = false } = {}): number {
  const isOne = typeof given === 'number' && (finite ? Number.isFinite(given) : !Number.isNaN(given));
  if (isOne && given >= 0) return given;
  throw new TypeError(`${name} is a number from 0${finite ? ', and finite' : ''}; ${String(given)} is none`);
}
