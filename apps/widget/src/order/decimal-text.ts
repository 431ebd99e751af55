/** Exact arithmetic of amounts as they travel: decimal text. */

/** In the smallest units of a currency with these decimals; undefined where it is no such amount. */
export function atomicOf(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.replace(/0+$/, '').length > decimals) return undefined;
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function textOf(atomic: bigint, decimals: number): string {
  const sign = atomic < 0n ? '-' : '';
  const digits = `${atomic < 0n ? -atomic : atomic}`.padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** May be below zero. */
export function difference(left: string, right: string): string {
  const decimals = Math.max(decimalsOf(left), decimalsOf(right));
  return textOf((atomicOf(left, decimals) ?? 0n) - (atomicOf(right, decimals) ?? 0n), decimals);
}
