/**
 * The contract types a few fields as JSON numbers (`platform_fee_pct`, a rail's limits). This is the only place where
 * an exact decimal becomes a JavaScript number, at the very edge and for output only: nothing calculates with it.
 */
export function decimalToWireNumber(text: string): number {
  return Number(text);
}
