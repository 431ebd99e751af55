import { CausewayError } from '@causeway/protocol';
import type { Address } from '../../chain/chain-settings.ts';
import { customerScope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import {
  type InitiateDeps,
  type InitiateRequest,
  openOfframp,
  openOnramp,
} from '../orders/lifecycle/initiate-order.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { type QuoteClaim, readQuote, withQuoteClaim } from '../quotes/claim-quote.ts';
import { lostWallets } from '../screening/screen-wallet.ts';
import { type CustomerWalletDeps, takeCustomerWallet } from './customer-wallet.ts';

export interface WidgetOrderDeps extends InitiateDeps, CustomerWalletDeps {}

/** Who opens an order in the widget, and for which partner. */
export interface WidgetCustomer {
  readonly partnerId: string;
  readonly userId: string;
}

export interface WidgetOrderRequest {
  readonly quoteId: string;
  readonly walletAddress: string;
  /** The session that made the quote; null where there is none, in a sandbox. */
  readonly sessionId: string | null;
}

/** What an order of the widget takes before its unit begins; a refusal is thrown inside, so that a repeated key is answered. */
export type WidgetClaim =
  | { readonly refusal: CausewayError }
  | { readonly claim: QuoteClaim; readonly wallet: Address; readonly direction: OrderRow['direction'] };

/** The one way to open an order of the widget: the wallet is judged, then the quote is claimed, then `work` writes. */
export async function withWidgetClaim<T>(
  deps: WidgetOrderDeps,
  { partnerId, userId }: WidgetCustomer,
  { quoteId, walletAddress, sessionId }: WidgetOrderRequest,
  work: (claimed: WidgetClaim) => Promise<T>,
): Promise<T> {
  const quote = await readQuote(deps.db, customerScope(partnerId, userId), quoteId);
  if (quote === undefined || quote.session_id !== sessionId) {
    return work({ refusal: new CausewayError('QUOTE_NOT_FOUND') });
  }
  const { direction, chain } = quote;
  const taken = await takeCustomerWallet(deps, { partnerId, chain }, direction, walletAddress).catch(
    (error: unknown) => {
      if (error instanceof CausewayError) return error;
      throw error;
    },
  );
  if (taken instanceof CausewayError) return work({ refusal: taken });
  return withQuoteClaim(deps, { partnerId, userId, quoteId, direction }, (claim) =>
    work({ claim, wallet: taken, direction }),
  );
}

/** In a unit of the customer's scope, which sees its own quotes only. */
export async function openWidgetOrder(
  deps: WidgetOrderDeps,
  unit: UnitOfWork,
  claimed: WidgetClaim,
  request: InitiateRequest,
): Promise<OrderRow> {
  if ('refusal' in claimed) throw claimed.refusal;
  const { claim, wallet, direction } = claimed;
  const isWalletClear = (await lostWallets(unit, [wallet])).size === 0;
  const open = direction === 'onramp' ? openOnramp : openOfframp;
  return open(deps, unit, claim, request, { origin: 'widget', wallet, isWalletClear });
}
