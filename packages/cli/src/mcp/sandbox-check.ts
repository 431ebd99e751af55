import { type Causeway, isCausewayError } from '@causeway/sdk';

/** `unknown`: it could not be asked. Treated like `live` wherever something would be changed. */
export type DeploymentKind = 'sandbox' | 'live' | 'unknown';

const TEST_KEY = /^cw_test_/;
const PARTNER_KEY = /^cw_(test|live)_/;
const TIMEOUT_MS = 5_000;

export function isPartnerKey(key: string): boolean {
  return PARTNER_KEY.test(key);
}

/**
 * Asked from the service, every time: only a sandbox has a clock that can be moved, and its keys say `test`. Both must be so;
 * nothing is remembered, and whatever cannot be told is no sandbox.
 */
export async function kindOf(
  causeway: Causeway,
  apiKey: string,
  signal: AbortSignal,
): Promise<DeploymentKind> {
  if (!TEST_KEY.test(apiKey)) return 'live';
  try {
    const options = { signal, timeout: TIMEOUT_MS, maxRetries: 0 };
    const { now, offset_seconds } = await causeway.sandbox.clock(options);
    return typeof now === 'string' && typeof offset_seconds === 'number' ? 'sandbox' : 'unknown';
  } catch (error) {
    return isCausewayError(error, 'ROUTE_NOT_FOUND') ? 'live' : 'unknown';
  }
}
