import {
  ExportQuery,
  FiatAccountExportParams,
  MAX_EXPORT_DAYS,
  OPERATOR_TAG,
  OperatorExportQuery,
  OrderExportQuery,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../chain/chains.ts';
import type { Database } from '../../db/database.ts';
import { type CsvSender, createCsvSender, csvRoute } from '../../http/csv-route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Vaults } from '../../vault/vault.ts';
import {
  type DecimalsOf,
  feesFile,
  fiatAccountFile,
  ledgerFile,
  ordersFile,
  vendorFile,
} from './export-files.ts';
import { readPeriod } from './export-period.ts';
import {
  ALL_ORDERS_SAMPLE,
  BOOKS_SAMPLE,
  FEES_SAMPLE,
  fiatAccountSample,
  LEDGER_SAMPLE,
  ORDERS_SAMPLE,
  VENDOR_SAMPLE,
} from './export-samples.ts';

export interface ExportRouteDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly chains: Chains;
  readonly currencies: Currencies;
  readonly vaults: Vaults;
  readonly config: { readonly databasePoolSize: number };
}

const TAG = 'Exports';
const PARTNER = '/api/v1/partner/exports';
const OPERATOR = '/api/v1/operator/exports';

const ABOUT = `CSV by RFC 4180 in UTF-8, oldest first, read from one moment. \`to\` counts, at most ${MAX_EXPORT_DAYS} days. A text that begins like a formula has an apostrophe before it. A file that breaks off ends without its last chunk: ask again.`;

/** Orders, fees, books and statements as files, for accounting. */
export function registerExportRoutes(app: FastifyInstance, deps: ExportRouteDeps): void {
  const sender = createCsvSender(app, {
    db: deps.db,
    logger: deps.logger,
    // Most connections stay with requests that are answered at once.
    atOnce: Math.max(1, Math.floor(deps.config.databasePoolSize / 3)),
  });
  registerPartnerFiles(app, sender, deps);
  registerFiatStatement(app, sender, deps);
  registerVendorStatement(app, sender, deps);
  registerOperatorFiles(app, sender, deps);
}

/** From the chains and the catalogue: an asset is a currency, or a token and its chain. */
function decimalsOf({ chains, currencies }: ExportRouteDeps): DecimalsOf {
  return (asset) => {
    const at = asset.lastIndexOf('@');
    // Also of a currency that is off by now.
    if (at < 0)
      return currencies
        .current()
        .reference.catalogue.records.fiatCurrencies.find(({ code }) => code === asset)?.minorUnits;
    const chain = chains.all.find(({ settings }) => settings.slug === asset.slice(at + 1));
    return chain?.settings.tokens.find(({ code }) => code === asset.slice(0, at))?.decimals;
  };
}

function registerPartnerFiles(app: FastifyInstance, sender: CsvSender, deps: ExportRouteDeps): void {
  const now = () => deps.clock.date();

  csvRoute(app, sender, {
    access: 'partner',
    url: `${PARTNER}/orders.csv`,
    operationId: 'exportOrders',
    tag: TAG,
    summary: 'Export orders created in a period',
    description: `${ABOUT} escrow_in and escrow_out are what the books say went through the order’s escrow.`,
    example: ORDERS_SAMPLE,
    query: OrderExportQuery,
    open: ({ query }, { partnerId }) => {
      const { status, order_type, user_uuid, reference_id } = query;
      const filter = [status ?? null, order_type ?? null, user_uuid ?? null, reference_id ?? null] as const;
      return ordersFile(readPeriod(query, now()), partnerId, false, [...filter]);
    },
  });

  csvRoute(app, sender, {
    access: 'partner',
    url: `${PARTNER}/fees.csv`,
    operationId: 'exportFees',
    tag: TAG,
    summary: 'Export fees of orders settled in a period',
    description: `${ABOUT} A fee counts when the escrow has paid out; platform_fee is what was booked.`,
    example: FEES_SAMPLE,
    query: ExportQuery,
    open: ({ query }, { partnerId }) => feesFile(readPeriod(query, now()), partnerId),
  });

  csvRoute(app, sender, {
    access: 'partner',
    url: `${PARTNER}/ledger.csv`,
    operationId: 'exportLedger',
    tag: TAG,
    summary: 'Export ledger postings booked in a period',
    description: `${ABOUT} The postings of an entry sum to zero in each asset.`,
    example: LEDGER_SAMPLE,
    query: ExportQuery,
    open: ({ query }, { partnerId }) =>
      ledgerFile(readPeriod(query, now()), partnerId, false, decimalsOf(deps)),
  });
}

function registerFiatStatement(app: FastifyInstance, sender: CsvSender, deps: ExportRouteDeps): void {
  csvRoute(app, sender, {
    access: 'partner',
    url: `${PARTNER}/fiat-accounts/:id.csv`,
    operationId: 'exportFiatAccount',
    tag: TAG,
    summary: 'Export the statement of a fiat account',
    description: `${ABOUT} The first line is the opening balance, the last the closing balance.`,
    params: FiatAccountExportParams,
    example: fiatAccountSample((period) => fiatAccountFile(period, '', 'retail_42', deps.vaults)),
    query: ExportQuery,
    errors: ['FIAT_ACCOUNT_NOT_FOUND'],
    open: ({ params, query }, { partnerId }) =>
      fiatAccountFile(readPeriod(query, deps.clock.date()), partnerId, params.id, deps.vaults),
  });
}

function registerVendorStatement(app: FastifyInstance, sender: CsvSender, deps: ExportRouteDeps): void {
  csvRoute(app, sender, {
    access: 'vendor',
    url: '/api/v1/vendor/exports/statement.csv',
    operationId: 'exportVendorStatement',
    tag: TAG,
    summary: 'Export the vendor’s settled orders',
    description: `${ABOUT} An order counts when its escrow has paid out, as in GET /vendor/statement.`,
    example: VENDOR_SAMPLE,
    query: ExportQuery,
    open: ({ query }, { vendorId }) => vendorFile(readPeriod(query, deps.clock.date()), vendorId),
  });
}

function registerOperatorFiles(app: FastifyInstance, sender: CsvSender, deps: ExportRouteDeps): void {
  csvRoute(app, sender, {
    access: 'operator',
    url: `${OPERATOR}/ledger.csv`,
    operationId: 'exportBooks',
    tag: OPERATOR_TAG,
    summary: 'Export ledger postings of all partners, or of one',
    description: ABOUT,
    example: BOOKS_SAMPLE,
    query: OperatorExportQuery,
    open: ({ query }) =>
      ledgerFile(readPeriod(query, deps.clock.date()), query.partner_id ?? null, true, decimalsOf(deps)),
  });

  csvRoute(app, sender, {
    access: 'operator',
    url: `${OPERATOR}/orders.csv`,
    operationId: 'exportAllOrders',
    tag: OPERATOR_TAG,
    summary: 'Export orders of all partners, or of one',
    description: ABOUT,
    example: ALL_ORDERS_SAMPLE,
    query: OperatorExportQuery,
    open: ({ query }) => ordersFile(readPeriod(query, deps.clock.date()), query.partner_id ?? null, true),
  });
}
