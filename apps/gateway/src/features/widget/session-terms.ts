import type { WidgetPricingInput } from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidRequest } from '../../http/errors.ts';
import type { SessionRow } from './sessions.ts';

/** What the partner's server has fixed for a session holds on the server too, whatever the page sends. */

type Pricing = Static<typeof WidgetPricingInput>;
type Fixed = Pick<SessionRow, 'start' | 'locked'>;

const FIXED_CODES = ['side', 'fiat_currency', 'crypto_currency', 'country_code'] as const;
const FIXED_AMOUNTS = ['fiat_amount', 'crypto_amount'] as const;

function fixedByPage(path: string): Error {
  return invalidRequest(path, 'is fixed in this session and cannot be changed');
}

/** The request with what is fixed filled in; one that says otherwise is refused. */
export function withinSession<T extends Pricing>({ start, locked }: Fixed, input: T): T {
  if (!locked) return input;
  const filled: Record<string, unknown> = { ...input };
  for (const field of FIXED_CODES) {
    const fixed = start[field];
    if (fixed === undefined) continue;
    const given = input[field];
    if (given !== undefined && given.toUpperCase() !== fixed.toUpperCase()) throw fixedByPage(field);
    filled[field] = fixed;
  }
  for (const [field, other] of [FIXED_AMOUNTS, FIXED_AMOUNTS.toReversed()] as const) {
    if (field === undefined || other === undefined) continue;
    const fixed = start[field];
    if (fixed === undefined) continue;
    if (input[other] !== undefined) throw fixedByPage(other);
    const given = input[field];
    if (given !== undefined && plainDecimal(given) !== plainDecimal(fixed)) throw fixedByPage(field);
    filled[field] = fixed;
  }
  return filled as T;
}

export function requireFixedWallet({ start, locked }: Fixed, wallet: string): void {
  const fixed = start.wallet_address;
  if (locked && fixed !== undefined && fixed.toLowerCase() !== wallet.toLowerCase()) {
    throw fixedByPage('wallet_address');
  }
}

/** `100` and `100.00` are one amount. */
function plainDecimal(amount: string | number): string {
  const [whole = '', fraction = ''] = `${amount}`.trim().split('.');
  const digits = fraction.replace(/0+$/, '');
  return `${whole.replace(/^0+(?=\d)/, '')}${digits === '' ? '' : `.${digits}`}`;
}
