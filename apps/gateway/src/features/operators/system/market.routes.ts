import {
  CausewayError,
  HotWalletListSchema,
  OPERATOR_TAG,
  ReferenceRecordParams,
  ReferenceUsageSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import {
  createHotWalletReports,
  type HotWalletReport,
  type HotWalletReportDeps,
} from '../../../chain/transactions/hot-wallet-report.ts';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { route } from '../../../http/route.ts';
import type { Catalogue, Currencies } from '../../../ports/currencies.ts';
import { referenceUse } from './market.store.ts';

export interface MarketRouteDeps extends HotWalletReportDeps {
  readonly currencies: Currencies;
}

/** What the market stands on: the wallets that pay for its transactions, and what hangs on a record of the catalogue. */
export function registerMarketRoutes(app: FastifyInstance, deps: MarketRouteDeps): void {
  registerHotWallets(app, deps);
  registerUsage(app, deps);
}

const NATIVE = 'ETH';

function registerHotWallets(app: FastifyInstance, deps: MarketRouteDeps): void {
  const reports = createHotWalletReports(deps);
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/hot-wallets',
    operationId: 'listHotWallets',
    tag: OPERATOR_TAG,
    summary: 'List the wallets that pay for transactions',
    description:
      'Balances, gas and nonces as the chain has them now. Where no node answers in two seconds, what was last seen is answered with its age.',
    data: HotWalletListSchema,
    handle: async () => {
      const found = await reports();
      const catalogue = deps.currencies.current().reference.catalogue;
      return { wallets: found.map((report) => walletView(report, catalogue, deps.wall())) };
    },
  });
}

function walletView(report: HotWalletReport, catalogue: Catalogue, now: number) {
  const { slug, chainId, explorerUrl } = report.chain;
  const ageOf = (at: number) => Math.max(0, Math.round((now - at) / 1_000));
  return {
    chain: slug,
    chain_id: chainId,
    address: report.address,
    explorer_url: explorerUrl === undefined ? null : `${explorerUrl}/address/${report.address}`,
    state: report.state,
    says: report.says,
    currency: catalogue.chain(slug)?.ticker ?? NATIVE,
    balance: report.balance,
    minimum_balance: report.minimumBalance,
    tokens: [...report.tokens],
    gas_price_gwei: report.gasPriceGwei,
    gas_per_order: {
      gas: report.gasPerOrder.gas,
      cost: report.gasPerOrder.cost,
      measured_orders: report.gasPerOrder.measuredOrders,
    },
    orders_left: report.ordersLeft,
    next_nonce: report.nextNonce,
    chain_nonce: report.chainNonce,
    pending: report.pending.map(({ nonce, txHash, versions, createdAt }) => ({
      nonce,
      tx_hash: txHash,
      versions,
      created_at: createdAt.toISOString(),
      age_seconds: ageOf(createdAt.getTime()),
    })),
    read_at: report.readAt === null ? null : new Date(report.readAt).toISOString(),
    age_seconds: report.readAt === null ? null : ageOf(report.readAt),
    reachable: report.reachable,
  };
}

/** Kinds with a switch of their own; the others are switched by what they consist of. */
const SWITCHED = new Set(['rails', 'institutions', 'fiat_currencies']);

function registerUsage(
  app: FastifyInstance,
  { db, currencies }: { readonly db: Database; readonly currencies: Currencies },
): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reference/:kind/:id/usage',
    operationId: 'getReferenceUsage',
    tag: OPERATOR_TAG,
    summary: 'Get what uses a reference record',
    description:
      'To know what a change reaches before it is made. Orders that are open go on; offers stay and are not matched on what is off.',
    params: ReferenceRecordParams,
    data: ReferenceUsageSchema,
    errors: ['ROUTE_NOT_FOUND'],
    handle: async ({ params: { kind, id } }) => {
      const { records: data } = currencies.current().reference.catalogue;
      const found = recordOf(data, kind, id);
      if (found === undefined) throw new CausewayError('ROUTE_NOT_FOUND');
      const rails = data.rails.filter((rail) => usedByRail(kind, id, rail)).length;
      const institutions = data.institutions.filter((one) => usedByInstitution(kind, id, one)).length;
      const [use] = await db.query(SYSTEM, referenceUse, [kind, id]);
      return {
        kind,
        id,
        live: found.live !== false,
        can_be_switched: SWITCHED.has(kind),
        rails,
        institutions,
        offers: use?.offers ?? 0,
        open_orders: use?.open_orders ?? 0,
      };
    },
  });
}

type Records = Catalogue['records'];

function recordOf(data: Records, kind: string, id: string): { readonly live?: boolean } | undefined {
  switch (kind) {
    case 'rails':
      return data.rails.find(({ slug }) => slug === id);
    case 'institutions':
      return data.institutions.find(({ slug }) => slug === id);
    case 'fiat_currencies':
      return data.fiatCurrencies.find(({ code }) => code === id);
    case 'countries':
      return data.countries.some(({ code }) => code === id) ? {} : undefined;
    case 'chains':
      return data.chains.some(({ slug }) => slug === id) ? {} : undefined;
    case 'assets':
      return data.assets.some(({ code }) => code === id) ? {} : undefined;
    case 'institution_types':
      return data.institutionTypes.some(({ slug }) => slug === id) ? {} : undefined;
    default:
      return undefined;
  }
}

function usedByRail(kind: string, id: string, rail: Records['rails'][number]): boolean {
  switch (kind) {
    case 'fiat_currencies':
      return rail.currencies.includes(id);
    case 'countries':
      return rail.countries.includes(id);
    case 'institutions':
      return rail.defaultInstitution === id;
    default:
      return false;
  }
}

function usedByInstitution(kind: string, id: string, one: Records['institutions'][number]): boolean {
  switch (kind) {
    case 'rails':
      return one.supportedRails.includes(id);
    case 'countries':
      return one.countries.includes(id);
    case 'institution_types':
      return one.institutionType === id;
    default:
      return false;
  }
}
