import type { Offer, Reputation, Vendor } from './offer.ts';

export interface Standing {
  readonly offer: Pick<Offer, 'offerId' | 'createdAt'>;
  readonly vendor: Pick<Vendor, 'reputation'>;
}

/**
 * Who is served first at the same customer rate: the vendor with the better reputation, then the older offer, then
 * the lower offer id. Ids are unique, so there is always exactly one first, whatever order rows were read in.
 */
export function compareStanding(left: Standing, right: Standing): number {
  const byReputation = compareReputation(right.vendor.reputation, left.vendor.reputation);
  if (byReputation !== 0) return byReputation;
  if (left.offer.createdAt !== right.offer.createdAt) return left.offer.createdAt - right.offer.createdAt;
  if (left.offer.offerId === right.offer.offerId) return 0;
  return left.offer.offerId < right.offer.offerId ? -1 : 1;
}

/**
 * Positive where `left` is better: the share of orders carried out, with one success and one failure added to
 * each, so that a newcomer stands at one half and a single lucky order does not beat a long good record.
 */
export function compareReputation(left: Reputation, right: Reputation): number {
  const gap = successes(left) * trials(right) - successes(right) * trials(left);
  if (gap === 0n) return 0;
  return gap > 0n ? 1 : -1;
}

function successes({ completedOrders }: Reputation): bigint {
  return BigInt(completedOrders) + 1n;
}

function trials({ completedOrders, failedOrders, disputedOrders }: Reputation): bigint {
  return BigInt(completedOrders) + BigInt(failedOrders) + BigInt(disputedOrders) + 2n;
}
