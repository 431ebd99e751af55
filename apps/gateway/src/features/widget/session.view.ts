import {
  formatFixed,
  isOpenForCustomer,
  KYC_CLEARED,
  type WidgetCustomerSchema,
  type WidgetOrderSummarySchema,
  type WidgetSessionSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Chains } from '../../chain/chains.ts';
import { customerScope, type Database, partnerScope, reading } from '../../db/database.ts';
import type { PartnerSettings } from '../../http/principals.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Vaults } from '../../vault/vault.ts';
import { orderState } from '../orders/lifecycle/act-on-order.ts';
import { listCustomerOrders } from '../orders/lifecycle/list-orders.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { profileOf, readUserBy } from '../users/user.ts';
import type { SessionRow } from './sessions.ts';

export interface SessionViewDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'date'>;
  readonly chains: Chains;
  readonly currencies: Currencies;
  readonly vaults: Vaults;
  readonly sandbox: boolean;
}

type SessionView = Static<typeof WidgetSessionSchema>;

/** All that the application needs to know to go on, in one answer. */
export async function sessionView(
  deps: SessionViewDeps,
  partner: PartnerSettings,
  row: SessionRow,
): Promise<SessionView> {
  const { user_id: userId } = row;
  const [customer, orders] =
    userId === null
      ? [null, []]
      : await Promise.all([
          customerView(deps, row.partner_id, userId),
          customerOrders(deps.db, row.partner_id, userId),
        ]);
  return {
    session_id: row.session_id,
    expires_at: row.expires_at.toISOString(),
    server_time: deps.clock.date().toISOString(),
    partner_name: partner.name,
    sandbox: deps.sandbox,
    chain: chainView(deps, partner.settlementChain),
    start: row.start,
    locked: row.locked,
    customer,
    orders: orders.map(orderSummary),
  };
}

function chainView({ chains, currencies }: SessionViewDeps, slug: string): SessionView['chain'] {
  const { settings } = chains.get(slug);
  return {
    slug,
    name: currencies.current().reference.catalogue.chain(slug)?.name ?? slug,
    chain_id: settings.chainId,
    rpc_url: settings.publicRpcUrl,
    explorer_url: settings.explorerUrl ?? null,
    tokens: settings.tokens.map(({ code, address, decimals }) => ({ code, address, decimals })),
  };
}

async function customerView(
  { db, vaults }: SessionViewDeps,
  partnerId: string,
  userId: string,
): Promise<Static<typeof WidgetCustomerSchema>> {
  const user = await readUserBy(reading(db, partnerScope(partnerId)), userId);
  return {
    email: maskedEmail(profileOf(vaults, user).email),
    kyc_status: user.kyc_status,
    is_verified: user.kyc_status === KYC_CLEARED,
    rejection_reasons: user.rejection_reasons,
  };
}

/** Enough to be recognised by who knows it. */
export function maskedEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const [first = ''] = email;
  return `${at > 1 ? first : ''}•••${email.slice(at)}`;
}

const LAST_FEW = 10;

/** The open orders of a customer and the last few, newest first; only those that it opened itself. */
export function customerOrders(db: Database, partnerId: string, userId: string): Promise<OrderRow[]> {
  return listCustomerOrders(db, customerScope(partnerId, userId), userId, LAST_FEW);
}

export function orderSummary(order: OrderRow): Static<typeof WidgetOrderSummarySchema> {
  return {
    order_id: order.order_id,
    side: order.direction,
    status: order.status,
    crypto_amount: formatFixed(BigInt(order.crypto_amount), order.crypto_decimals),
    crypto_currency: order.crypto_currency,
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    fiat_currency: order.fiat_currency,
    is_open: isOpenForCustomer(orderState(order)),
    created_at: order.created_at.toISOString(),
  };
}
