/** An id or a hash as it is shown: its ends, by which it is recognised. */
export function shortId(value: string): string {
  return value.length <= 14 ? value : `${value.slice(0, 8)}…${value.slice(-4)}`;
}
