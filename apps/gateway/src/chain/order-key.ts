import type { Hex } from './chain-settings.ts';

/**
 * An order's uuid as the chain carries it: 32 bytes, the uuid's 16 in the low half. The same number salts the escrow's
 * address, so an order has exactly one escrow per set of owners.
 */

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const keyPattern = /^0x0{32}([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export function orderKey(orderId: string): Hex {
  const uuid = orderId.toLowerCase();
  if (!uuidPattern.test(uuid)) throw new Error('an order id is a uuid');
  return `0x${uuid.replaceAll('-', '').padStart(64, '0')}`;
}

/** The order id behind a key read from a log, or undefined where the key was never one of ours. */
export function orderIdOfKey(key: Hex): string | undefined {
  return keyPattern.exec(key.toLowerCase())?.slice(1).join('-');
}

export function escrowSaltNonce(orderId: string): bigint {
  return BigInt(orderKey(orderId));
}
