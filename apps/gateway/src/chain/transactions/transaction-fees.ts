import { larger, smaller } from '../../lib/bigints.ts';

/** What a transaction offers per unit of gas, in wei. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** What a chain's transactions may offer, in wei per unit of gas. */
export interface FeeLimits {
  /** The most that is offered in all, replacements included. */
  readonly maxFeePerGas: bigint;
  /** The tip is what the node suggests, between these two, replacements included. */
  readonly minPriorityFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

const GWEI = 10n ** 9n;

/** A release then costs at most about 0.12 ether, whatever a node suggests. */
export const DEFAULT_FEE_LIMITS: FeeLimits = {
  maxFeePerGas: 300n * GWEI,
  minPriorityFeePerGas: 0n,
  maxPriorityFeePerGas: 50n * GWEI,
};

/** Twice the base fee covers six full blocks in a row; the difference to the real one is not paid. */
export function firstFees(baseFeePerGas: bigint, suggestedTip: bigint, limits: FeeLimits): Fees {
  const tip = larger(smaller(suggestedTip, limits.maxPriorityFeePerGas), limits.minPriorityFeePerGas);
  const maxFeePerGas = smaller(baseFeePerGas * 2n + tip, limits.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) };
}

/**
 * Nodes take a replacement only when both fees rise by a tenth; an eighth leaves room for rounding. Undefined when one of
 * them would be above its limit: the transaction then waits for the network to calm down. The tip has a limit of its own
 * because all of it is paid, whatever the base fee is.
 */
export function replacementFees(
  previous: Fees,
  current: Fees,
  limits: Pick<FeeLimits, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
): Fees | undefined {
  const maxFeePerGas = larger(raised(previous.maxFeePerGas), current.maxFeePerGas);
  const maxPriorityFeePerGas = larger(raised(previous.maxPriorityFeePerGas), current.maxPriorityFeePerGas);
  if (maxFeePerGas > limits.maxFeePerGas || maxPriorityFeePerGas > limits.maxPriorityFeePerGas) {
    return undefined;
  }
  return { maxFeePerGas, maxPriorityFeePerGas };
}

function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}
