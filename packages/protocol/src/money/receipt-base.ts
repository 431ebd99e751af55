import { WHOLE_IN_MILLIONTHS } from './rate.ts';

/**
 * Solves the on-ramp's crypto-anchored case: the smallest base C whose receipt
 *
 *     r(C) = C - floor(C * a) - floor(C * b)      a, b: the two fees as shares, each below 1
 *
 * is exactly X. Such a C exists for every X >= 1 as long as a + b < 1:
 *
 * - Each floor grows by 0 or 1 when C grows by 1, so r moves by +1, 0 or -1. It can fall back, but it never skips a
 *   value upwards. It starts at r(0) = 0 and has no upper limit, so it takes every value, and the smallest C with
 *   r(C) >= X is the smallest C with r(C) = X.
 * - Let s = 1 - a - b. Fractional parts are not negative, so r(C) >= C * s, and the first C with C * s > X - 1 has a
 *   receipt of at least X: the answer is at most that C, called `highest` here.
 * - Below `highest`, put z = X - 1 - C * s >= 0 and let u, v be the fractional parts of C * a and C * b. Then
 *   r(C) = X - 1 - z + u + v is a whole number, and u + v < 2 leaves, for z < 1, two choices: u + v = z, which is
 *   r(C) = X - 1, and u + v = z + 1, which is r(C) = X. As 0 <= v < 1, the second holds exactly when u > z.
 *   For z >= 1 there is no solution, as u + v - z < 1.
 *
 * So a solution before `highest` is a C with u > z, where z < 1 leaves a window of about 1 / s bases: one or two for
 * ordinary fees, a hundred million when the fees leave a millionth of a percent. Scanning that would let one request
 * hold the processor for seconds. As r - (X - 1) is 0 or 1 in the window, its sum over a part of it counts the
 * solutions there, and a sum of floors takes logarithmic time: the first solution is then found by bisection.
 *
 * With a + b >= 1 the receipt is C * (1 - a - b) plus two fractional parts, thus below 2: only X = 1 is ever reached,
 * first at C = 1, where both fees round down to nothing.
 *
 * Answers null where no base has that receipt. Fees are in millionths of a percent, each below 100 %; u, z and s are
 * kept in the same unit, so they are whole numbers.
 */
export function smallestBaseForReceipt(receipt: bigint, feeA: bigint, feeB: bigint): bigint | null {
  const kept = WHOLE_IN_MILLIONTHS - feeA - feeB;
  if (kept <= 0n) return receipt === 1n ? 1n : null;

  const target = (receipt - 1n) * WHOLE_IN_MILLIONTHS;
  const quotient = target / kept;
  const remainder = target - quotient * kept;
  const highest = quotient + 1n;
  // z is `remainder` right below `highest` and grows by `kept` per base down; u is at most a whole less one, so
  // further down than this u > z cannot hold.
  if (remainder > WHOLE_IN_MILLIONTHS - 2n) return highest;
  let candidates = (WHOLE_IN_MILLIONTHS - 2n - remainder) / kept + 1n;
  // Fees are not negative, so the base is not below the receipt.
  if (candidates > highest - receipt) candidates = highest - receipt;

  let base = highest - candidates;
  let z = remainder + (candidates - 1n) * kept;
  let u = (base * feeA) % WHOLE_IN_MILLIONTHS;
  for (let step = 0; step < SCANNED_BASES; step += 1) {
    if (base === highest || u > z) return base;
    base += 1n;
    z -= kept;
    u += feeA;
    if (u >= WHOLE_IN_MILLIONTHS) u -= WHOLE_IN_MILLIONTHS;
  }
  return bisect(base, highest, receipt, feeA, feeB);
}

// Up to about here the plain scan is quicker than one sum of floors.
const SCANNED_BASES = 64;

/** The first solution in `from`..`highest`, of which `highest` is one unless an earlier base is. */
function bisect(from: bigint, highest: bigint, receipt: bigint, feeA: bigint, feeB: bigint): bigint {
  let before = from; // no solution in from..before - 1
  let last = highest; // a solution in from..last
  while (before < last) {
    const middle = (before + last) / 2n;
    if (countSolutions(from, middle - from + 1n, receipt, feeA, feeB) > 0n) last = middle;
    else before = middle + 1n;
  }
  return last;
}

/** How many of the `count` bases from `from` on have the wanted receipt, inside the window described above. */
function countSolutions(from: bigint, count: bigint, receipt: bigint, feeA: bigint, feeB: bigint): bigint {
  const sumOfBases = count * from + (count * (count - 1n)) / 2n;
  return (
    sumOfBases -
    floorSum(count, WHOLE_IN_MILLIONTHS, feeA, feeA * from) -
    floorSum(count, WHOLE_IN_MILLIONTHS, feeB, feeB * from) -
    count * (receipt - 1n)
  );
}

/**
 * The sum of floor((slope * i + offset) / modulus) for i = 0..count - 1, none of them negative: the lattice points
 * under a line. Whole multiples are taken out, then the axes swap, as in Euclid's algorithm.
 */
function floorSum(count: bigint, modulus: bigint, slope: bigint, offset: bigint): bigint {
  let sum = 0n;
  let [n, m, a, b] = [count, modulus, slope, offset];
  while (n > 0n) {
    sum += ((n * (n - 1n)) / 2n) * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const height = a * n + b;
    if (height < m) break;
    [n, b, m, a] = [height / m, height % m, a, m];
  }
  return sum;
}
