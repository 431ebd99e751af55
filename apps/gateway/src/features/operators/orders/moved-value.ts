import type { Decimal } from '@causeway/protocol';
import type { Address, ChainSettings } from '../../../chain/chain-settings.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { MovedValue } from '../../../http/second-approval.ts';
import { type Currencies, convertAtomic } from '../../../ports/currencies.ts';
import { tokenOf } from '../../orders/deposits/deposit.adapter.ts';
import { depositOf } from '../../orders/escrow/escrow.ts';
import { loadOrderForAction } from '../../orders/lifecycle/act-on-order.ts';
import type { OrderRow } from '../../orders/lifecycle/order.ts';

/** What an operator's decision moves, in US dollars: judged against the amount above which two persons decide. */

/** Every asset of the catalogue is worth a dollar, as it is for the limits of open orders. */
function dollars(atomic: bigint, decimals: number): MovedValue {
  return { usd: { unscaled: atomic, scale: decimals }, isKnown: true };
}

/** Nothing tells what it is worth: a dollar for each smallest unit, so that all but dust needs two persons. */
function atMost(atomic: bigint): MovedValue {
  return { usd: { unscaled: atomic, scale: 0 }, isKnown: false };
}

/** What is or will be in the order's escrow. */
export function valueOfOrder(order: OrderRow): MovedValue {
  return dollars(depositOf(order), order.crypto_decimals);
}

export async function valueOfLockedOrder(unit: UnitOfWork, orderId: string): Promise<MovedValue> {
  return valueOfOrder(await loadOrderForAction(unit, orderId));
}

export function valueOfTokens(
  settings: Pick<ChainSettings, 'tokens'>,
  token: Address,
  atomic: bigint,
): MovedValue {
  const known = tokenOf(settings, token);
  return known === undefined ? atMost(atomic) : dollars(atomic, known.decimals);
}

export function larger(a: MovedValue, b: MovedValue): MovedValue {
  return isLess(a.usd, b.usd) ? b : a;
}

function isLess(a: Decimal, b: Decimal): boolean {
  return a.unscaled * 10n ** BigInt(b.scale) < b.unscaled * 10n ** BigInt(a.scale);
}

const USD_DECIMALS = 6;

/** By the last known rate, also where it is too old to quote on. */
export function valueOfFiat(
  currencies: Pick<Currencies, 'current'>,
  currency: string,
  atomic: bigint,
  decimals: number,
): MovedValue {
  if (currency === 'USD') return dollars(atomic, decimals);
  const { rate } = currencies.current().rates.rate(currency, 'USD');
  if (rate === null) return atMost(atomic);
  const amount = { asset: { code: currency, decimals }, atomic };
  return dollars(convertAtomic(amount, USD_DECIMALS, rate, 'ceil'), USD_DECIMALS);
}
