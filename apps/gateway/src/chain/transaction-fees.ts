/** What a transaction offers per unit of gas, in wei. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Twice the base fee covers six full blocks in a row; the difference to the real one is not paid. */
export function firstFees(baseFeePerGas: bigint, priorityFeePerGas: bigint, maxFeeLimit: bigint): Fees {
  const maxFeePerGas = smaller(baseFeePerGas * 2n + priorityFeePerGas, maxFeeLimit);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(priorityFeePerGas, maxFeePerGas) };
}

/**
 * Nodes take a replacement only when both fees rise by a tenth; an eighth leaves room for rounding. Undefined when that
 * would cost more than the limit: the transaction then waits for the network to calm down.
 */
export function replacementFees(previous: Fees, current: Fees, maxFeeLimit: bigint): Fees | undefined {
  const maxFeePerGas = larger(raised(previous.maxFeePerGas), current.maxFeePerGas);
  const maxPriorityFeePerGas = larger(raised(previous.maxPriorityFeePerGas), current.maxPriorityFeePerGas);
  if (maxFeePerGas > maxFeeLimit) return undefined;
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, maxFeePerGas) };
}

function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

// Math.max and Math.min do not take bigints.
function larger(left: bigint, right: bigint): bigint {
  if (left > right) return left;
  return right;
}

function smaller(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}
