import {
  FiatAccountId,
  FiatAccountInput,
  FiatAccountListSchema,
  FiatAccountSchema,
  FiatAccountsConfigSchema,
  FiatLedgerSchema,
  FiatPaymentListSchema,
  formatFixed,
  PageInput,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { partnerMutation, partnerRoute } from '../../http/route.ts';
import type { Vaults } from '../privacy/vault.ts';
import { readUser, vaultOfUser } from '../users/load-user.ts';
import { collectionOf, listAccounts } from './fiat-account.store.ts';
import { CAPABILITY, ledgerAccountOf, requireEnabled } from './fiat-account.ts';
import { accountView, ledgerEntryView, paymentView } from './fiat-account.view.ts';
import { balanceOfAccount, countPayments, ledgerOfAccount, listPayments } from './fiat-payment.store.ts';
import { type IssueTools, issueAccount } from './issue-account.ts';
import { loadAccount } from './load-account.ts';

export interface FiatAccountRouteTools extends UnitTools, IssueTools {
  readonly vaults: Vaults;
}

const TAG = 'Fiat accounts';
const ACCOUNTS = '/api/v1/partner/users/:user_uuid/fiat-accounts';
const UserParams = Type.Object({ user_uuid: Uuid });
const AccountParams = Type.Object({ user_uuid: Uuid, id: FiatAccountId });
const NOT_FOUND = ['USER_NOT_FOUND', 'FIAT_ACCOUNT_NOT_FOUND'] as const;

export function registerFiatAccountRoutes(app: FastifyInstance, tools: FiatAccountRouteTools): void {
  registerConfig(app, tools);
  registerIssuing(app, tools);
  registerReads(app, tools);
  registerStatements(app, tools);
}

function registerConfig(app: FastifyInstance, tools: FiatAccountRouteTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/fiat-accounts/config',
      operationId: 'getFiatAccountsConfig',
      tag: TAG,
      summary: 'What you may offer your customers',
      data: FiatAccountsConfigSchema,
    },
    async (_input, { partnerId, partner: { fiatAccountsEnabled } }) => {
      const [row] = await tools.db.query(partnerScope(partnerId), collectionOf, [partnerId]);
      return {
        enabled: fiatAccountsEnabled,
        product: 'retail' as const,
        capabilities: fiatAccountsEnabled ? [CAPABILITY] : [],
        currencies: (tools.bank?.offered ?? []).map(({ currency, jurisdictions }) => ({
          currency,
          jurisdictions: [...jurisdictions],
        })),
        collection_enabled: row?.collection_enabled ?? false,
      };
    },
  );
}

function registerIssuing(app: FastifyInstance, tools: FiatAccountRouteTools): void {
  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: ACCOUNTS,
      operationId: 'issueFiatAccount',
      tag: TAG,
      summary: 'Issue an account to a customer',
      description:
        'One account for a customer, a currency and a jurisdiction: asked again it answers the same one. It is provisioning until the bank has opened it; asking again before that answers PROVISIONING_IN_PROGRESS.',
      params: UserParams,
      body: FiatAccountInput,
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
    },
    async ({ params, body }, partner, unit) => {
      requireEnabled(partner);
      const { user, account } = await issueAccount(tools, unit, params.user_uuid, body);
      return accountView(vaultOfUser(tools.vaults, user), account);
    },
  );
}

function registerReads(app: FastifyInstance, tools: FiatAccountRouteTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: ACCOUNTS,
      operationId: 'listFiatAccounts',
      tag: TAG,
      summary: 'A customer’s accounts, oldest first',
      params: UserParams,
      data: FiatAccountListSchema,
      errors: ['USER_NOT_FOUND'],
    },
    async ({ params }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const user = await readUser(tools.db, scope, params.user_uuid);
      const accounts = await tools.db.query(scope, listAccounts, [user.user_id]);
      const vault = vaultOfUser(tools.vaults, user);
      return { accounts: accounts.map((account) => accountView(vault, account)) };
    },
  );

  partnerRoute(
    app,
    {
      method: 'GET',
      url: `${ACCOUNTS}/:id`,
      operationId: 'getFiatAccount',
      tag: TAG,
      summary: 'One account',
      params: AccountParams,
      data: FiatAccountSchema,
      errors: NOT_FOUND,
    },
    async ({ params }, { partnerId }) => {
      const found = await loadAccount(tools, partnerScope(partnerId), params.user_uuid, params.id);
      return accountView(found.vault, found.account);
    },
  );
}

function registerStatements(app: FastifyInstance, tools: FiatAccountRouteTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: `${ACCOUNTS}/:id/ledger`,
      operationId: 'getFiatAccountLedger',
      tag: TAG,
      summary: 'What went into and out of an account, newest first',
      params: AccountParams,
      query: Type.Object(PageInput),
      data: FiatLedgerSchema,
      errors: NOT_FOUND,
    },
    async ({ params, query: { page, limit } }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const { account, vault } = await loadAccount(tools, scope, params.user_uuid, params.id);
      const { currency, currency_decimals: decimals } = account;
      const books = ledgerAccountOf(account.account_number);
      const [rows, [sum]] = await tools.db.transaction(scope, (tx) =>
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
  );

  partnerRoute(
    app,
    {
      method: 'GET',
      url: `${ACCOUNTS}/:id/payments`,
      operationId: 'listFiatPayments',
      tag: TAG,
      summary: 'What was paid into an account, newest first',
      params: AccountParams,
      query: Type.Object(PageInput),
      data: FiatPaymentListSchema,
      errors: NOT_FOUND,
    },
    async ({ params, query: { page, limit } }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const { account, vault } = await loadAccount(tools, scope, params.user_uuid, params.id);
      const number = account.account_number;
      const [rows, [count]] = await tools.db.transaction(scope, (tx) =>
        tx.queryBoth(listPayments, [number, limit, (page - 1) * limit], countPayments, [number]),
      );
      return {
        payments: rows.map((row) => paymentView(vault, row)),
        pagination: { page, limit, total: Number(count?.total ?? 0) },
      };
    },
  );
}
