import {
  FiatAccountListSchema,
  FiatAccountParams,
  FiatAccountSchema,
  FiatAccountsConfigSchema,
  FiatLedgerSchema,
  FiatPaymentListSchema,
  type FiatPaymentSchema,
  formatFixed,
  OptionalFiatAccountInput,
  PageInput,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import { readUser, vaultOfUser } from '../users/user.ts';
import { type AccountRow, collectionOf, listAccounts } from './fiat-account.store.ts';
import {
  accountDetailsOf,
  accountIdOf,
  CAPABILITY,
  enabledFirst,
  entryKindOf,
  type IssueDeps,
  issueAccount,
  ledgerAccountOf,
  loadAccount,
  paymentDetailsOf,
  requireEnabled,
} from './fiat-account.ts';
import {
  balanceOfAccount,
  countPayments,
  type LedgerRow,
  ledgerOfAccount,
  listPayments,
  type PaymentRow,
} from './fiat-payment.store.ts';

/** Rows as the wire has them. The bank's own names for things stay here. */

export function accountView(vault: Vault, account: AccountRow): Static<typeof FiatAccountSchema> {
  const details = accountDetailsOf(vault, account);
  return {
    id: accountIdOf(account.account_number),
    holder_type: 'retail',
    holder_id: account.user_id,
    currency: account.currency,
    jurisdiction: account.jurisdiction,
    status: account.status,
    iban: details?.iban ?? null,
    account_holder_name: details?.account_holder_name ?? null,
    bank_name: account.bank_name,
    bic: account.bic,
    created_at: account.created_at.toISOString(),
  };
}

export function paymentView(vault: Vault, payment: PaymentRow): Static<typeof FiatPaymentSchema> {
  const { sender_name, reference } = paymentDetailsOf(vault, payment);
  return {
    id: payment.payment_id,
    amount: formatFixed(BigInt(payment.amount), payment.currency_decimals),
    currency: payment.currency,
    sender_name,
    reference,
    status: payment.status,
    ...(payment.order_id === null ? {} : { order_id: payment.order_id }),
    received_at: payment.received_at.toISOString(),
  };
}

type LedgerEntry = Static<typeof FiatLedgerSchema>['entries'][number];

export function ledgerEntryView(vault: Vault, decimals: number, row: LedgerRow): LedgerEntry {
  const amount = BigInt(row.amount);
  const kind = entryKindOf(row.kind);
  return {
    id: row.entry_id,
    direction: amount > 0n ? 'credit' : 'debit',
    amount: formatFixed(amount > 0n ? amount : -amount, decimals),
    balance_after: formatFixed(BigInt(row.balance_after), decimals),
    kind,
    reference: kind === 'collection' ? row.settlement_id : paymentDetailsOf(vault, row).reference,
    ...(row.order_id === null ? {} : { order_id: row.order_id }),
    created_at: row.created_at.toISOString(),
  };
}

export interface FiatAccountRouteDeps extends UnitDeps, IssueDeps {
  readonly vaults: Vaults;
}

const TAG = 'Fiat accounts';
const ACCOUNTS = '/api/v1/partner/users/:user_uuid/fiat-accounts';

const NOT_FOUND = ['USER_NOT_FOUND', 'FIAT_ACCOUNT_NOT_FOUND'] as const;

export function registerFiatAccountRoutes(app: FastifyInstance, deps: FiatAccountRouteDeps): void {
  registerConfig(app, deps);
  registerIssuing(app, deps);
  registerReads(app, deps);
  registerStatements(app, deps);
}

function registerConfig(app: FastifyInstance, deps: FiatAccountRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/fiat-accounts/config',
    operationId: 'getFiatAccountsConfig',
    tag: TAG,
    summary: 'Get the fiat account configuration',
    data: FiatAccountsConfigSchema,
    handle: async (_input, { partnerId, partner: { fiatAccountsEnabled } }) => {
      const [row] = await deps.db.query(partnerScope(partnerId), collectionOf, [partnerId]);
      return {
        enabled: fiatAccountsEnabled,
        product: 'retail' as const,
        capabilities: fiatAccountsEnabled ? [CAPABILITY] : [],
        currencies: (deps.bank?.offered ?? []).map(({ currency, jurisdictions }) => ({
          currency,
          jurisdictions: [...jurisdictions],
        })),
        collection_enabled: row?.collection_enabled ?? false,
      };
    },
  });
}

function registerIssuing(app: FastifyInstance, deps: FiatAccountRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: ACCOUNTS,
    operationId: 'issueFiatAccount',
    tag: TAG,
    summary: 'Issue a fiat account',
    description:
      'One account for a customer, a currency and a jurisdiction: asked again it answers the same one. It is provisioning until the bank has opened it; asking again before that answers PROVISIONING_IN_PROGRESS.',
    params: UserParams,
    body: OptionalFiatAccountInput,
    requireSubject: enabledFirst,
    data: FiatAccountSchema,
    errors: [
      'USER_NOT_FOUND',
      'FEATURE_NOT_ENABLED',
      'UNSUPPORTED_FIAT_CURRENCY',
      'MISSING_FIELDS',
      'CLIENT_NOT_APPROVED',
      'PROVISIONING_IN_PROGRESS',
      'BANKING_ERROR',
      'BANKING_UNAVAILABLE',
    ],
    handle: async ({ params, body }, partner, unit) => {
      requireEnabled(partner);
      const { user, account } = await issueAccount(deps, unit, params.user_uuid, body ?? {});
      return accountView(vaultOfUser(deps.vaults, user), account);
    },
  });
}

function registerReads(app: FastifyInstance, deps: FiatAccountRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: ACCOUNTS,
    operationId: 'listFiatAccounts',
    tag: TAG,
    summary: 'List fiat accounts of a customer, oldest first',
    params: UserParams,
    data: FiatAccountListSchema,
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const user = await readUser(deps.db, scope, params.user_uuid);
      const accounts = await deps.db.query(scope, listAccounts, [user.user_id]);
      const vault = vaultOfUser(deps.vaults, user);
      return { accounts: accounts.map((account) => accountView(vault, account)) };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${ACCOUNTS}/:id`,
    operationId: 'getFiatAccount',
    tag: TAG,
    summary: 'Get a fiat account',
    params: FiatAccountParams,
    data: FiatAccountSchema,
    errors: NOT_FOUND,
    handle: async ({ params }, { partnerId }) => {
      const found = await loadAccount(deps, partnerScope(partnerId), params.user_uuid, params.id);
      return accountView(found.vault, found.account);
    },
  });
}

function registerStatements(app: FastifyInstance, deps: FiatAccountRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${ACCOUNTS}/:id/ledger`,
    operationId: 'getFiatAccountLedger',
    tag: TAG,
    summary: 'List ledger entries of a fiat account, newest first',
    params: FiatAccountParams,
    query: PageInput,
    data: FiatLedgerSchema,
    errors: NOT_FOUND,
    handle: async ({ params, query: { page, limit } }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const { account, vault } = await loadAccount(deps, scope, params.user_uuid, params.id);
      const { currency, currency_decimals: decimals } = account;
      const books = ledgerAccountOf(account.account_number);
      const [rows, [sum]] = await deps.db.transaction(scope, (tx) =>
        tx.queryBoth(ledgerOfAccount, [books, currency, limit, (page - 1) * limit], balanceOfAccount, [
          books,
          currency,
        ]),
      );
      return {
        balance: formatFixed(BigInt(sum?.balance ?? 0), decimals),
        currency,
        entries: rows.map((row) => ledgerEntryView(vault, decimals, row)),
        pagination: { page, limit, total: Number(sum?.total ?? 0) },
      };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${ACCOUNTS}/:id/payments`,
    operationId: 'listFiatPayments',
    tag: TAG,
    summary: 'List payments into a fiat account, newest first',
    params: FiatAccountParams,
    query: PageInput,
    data: FiatPaymentListSchema,
    errors: NOT_FOUND,
    handle: async ({ params, query: { page, limit } }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const { account, vault } = await loadAccount(deps, scope, params.user_uuid, params.id);
      const number = account.account_number;
      const [rows, [count]] = await deps.db.transaction(scope, (tx) =>
        tx.queryBoth(listPayments, [number, limit, (page - 1) * limit], countPayments, [number]),
      );
      return {
        payments: rows.map((row) => paymentView(vault, row)),
        pagination: { page, limit, total: Number(count?.total ?? 0) },
      };
    },
  });
}
