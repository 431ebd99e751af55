/** Those of the names that are spelled alike, closest first: for “did you mean”. */
export function nearMatches(given: string, names: readonly string[]): string[] {
  const asked = given.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(asked, name.toLowerCase()) }))
    .filter(
      ({ name, distance }) =>
        distance <= Math.max(2, Math.floor(name.length / 3)) ||
        (asked.length >= 3 && name.toLowerCase().includes(asked)),
    )
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

export function didYouMean(given: string, names: readonly string[]): string {
  const near = nearMatches(given, names);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** Letters to insert, delete or replace. */
function distanceOf(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (const [index, other] of [...right].entries()) {
      next.push(
        Math.min(
          (row[index + 1] ?? 0) + 1,
          (next[index] ?? 0) + 1,
          (row[index] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
