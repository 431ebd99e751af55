import {
  CausewayError,
  NewPartnerSchema,
  OPERATOR_TAG,
  PageQuery,
  PartnerInput,
  PartnerListSchema,
  PartnerParams,
  PartnerPatchInput,
  PartnerSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { makerFor } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import { issueKey, NO_REASON, seeChangedKeys } from '../../api-keys/keys.ts';
import type { OrderLimits } from '../../quotes/claim-quote.ts';
import { lookUpWallet, takeWallet } from '../../screening/screen-wallet.ts';
import { countPartners, findPartner, listPartners, type PartnerRow } from './accounts.store.ts';
import type { KeyRouteDeps } from './keys.routes.ts';
import { changePartner, openPartner, type PartnerDeps, refuseTakenName } from './partners.ts';

export interface PartnerRouteDeps extends KeyRouteDeps, PartnerDeps {
  readonly config: { readonly platformFeePct: string };
  readonly orderLimits: OrderLimits;
}

const PARTNERS = '/api/v1/operator/partners';
const PARTNER = `${PARTNERS}/:partner_id`;

/** Partners: who they are, what they pay and what they may do. */
export function registerPartnerAdminRoutes(app: FastifyInstance, deps: PartnerRouteDeps): void {
  registerCreation(app, deps);
  registerReads(app, deps);
  registerChange(app, deps);
}

function registerCreation(app: FastifyInstance, deps: PartnerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: PARTNERS,
    operationId: 'createPartner',
    tag: OPERATOR_TAG,
    summary: 'Create a partner with its first keys',
    description:
      'The secret key, the widget key and the webhook secret are shown only in this answer. The keys work at once. Without platform_fee_pct the deployment’s own fee applies.',
    body: PartnerInput,
    data: NewPartnerSchema,
    errors: ['OPERATION_NOT_ALLOWED', 'WALLET_NOT_CLEARED', 'SERVICE_UNAVAILABLE'],
    readFirst: ({ body }) => lookUpWallet(deps, body.wallet_address),
    handle: async ({ body }, operator, unit, look) => {
      await takeWallet(unit, body.wallet_address, look);
      const { partner, webhookSecret } = await refuseTakenName(
        openPartner(unit, deps, {
          name: body.name,
          settlementChain: body.settlement_chain,
          walletAddress: body.wallet_address,
          platformFeePct: body.platform_fee_pct ?? deps.config.platformFeePct,
          fiatAccountsEnabled: body.fiat_accounts_enabled ?? false,
          collectionEnabled: body.collection_enabled ?? false,
        }),
      );
      const ownerId = partner.partner_id;
      const secretKey = issueKey(
        unit,
        deps.sandbox,
        { kind: 'partner', ownerId },
        'first secret key',
        makerFor(operator),
      );
      const widgetKey = issueKey(
        unit,
        deps.sandbox,
        { kind: 'widget', ownerId },
        'first widget key',
        makerFor(operator),
      );
      recordAction(unit, operator, {
        action: 'partner.create',
        subject: `partners/${ownerId}`,
        reason: body.reason ?? NO_REASON,
        after: { ...termsOf(partner), key_ids: [secretKey.key_id, widgetKey.key_id] },
      });
      return {
        partner: partnerView(deps, partner),
        secret_key: secretKey,
        widget_key: widgetKey,
        webhook_secret: webhookSecret,
      };
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}

function registerReads(app: FastifyInstance, deps: PartnerRouteDeps): void {
  const { db } = deps;
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: PARTNERS,
    operationId: 'listPartners',
    tag: OPERATOR_TAG,
    summary: 'List partners, newest first',
    query: PageQuery,
    data: PartnerListSchema,
    handle: async ({ query: { limit, offset } }) => {
      const [rows, [count]] = await db.transaction(SYSTEM, (tx) =>
        tx.queryBoth(listPartners, [limit, offset], countPartners, []),
      );
      return {
        partners: rows.map((row) => partnerView(deps, row)),
        pagination: { total: Number(count?.total ?? 0), limit, offset },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: PARTNER,
    operationId: 'getPartner',
    tag: OPERATOR_TAG,
    summary: 'Get a partner',
    params: PartnerParams,
    data: PartnerSchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params }) => {
      const [row] = await db.query(SYSTEM, findPartner, [params.partner_id]);
      if (row === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
      return partnerView(deps, row);
    },
  });
}

function registerChange(app: FastifyInstance, deps: PartnerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: PARTNER,
    operationId: 'changePartner',
    tag: OPERATOR_TAG,
    summary: 'Update a partner’s name, wallet, fee, limits or entitlement',
    description:
      'In force everywhere within a second. Quotes keep the fee, and accepted orders the wallet, they were made with.',
    params: PartnerParams,
    body: PartnerPatchInput,
    data: PartnerSchema,
    errors: ['PARTNER_NOT_FOUND', 'OPERATION_NOT_ALLOWED', 'WALLET_NOT_CLEARED', 'SERVICE_UNAVAILABLE'],
    readFirst: async ({ body }) => body.wallet_address && lookUpWallet(deps, body.wallet_address),
    handle: async ({ params, body }, operator, unit, look) => {
      if (body.wallet_address && look) await takeWallet(unit, body.wallet_address, look);
      const { reason, ...fields } = body;
      const names = CHANGEABLE.filter((name) => fields[name] !== undefined);
      if (names.length === 0) throw invalidRequest('body', `must have one of ${CHANGEABLE.join(', ')}`);
      const { before, after } = await refuseTakenName(
        changePartner(unit, deps, params.partner_id, requestOf(fields)),
      );
      recordAction(unit, operator, {
        action: 'partner.change',
        subject: `partners/${after.partner_id}`,
        reason,
        before: Object.fromEntries(names.map((name) => [name, before[name]])),
        after: Object.fromEntries(names.map((name) => [name, after[name]])),
      });
      return partnerView(deps, after);
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}

const CHANGEABLE = [
  'name',
  'wallet_address',
  'platform_fee_pct',
  'fiat_accounts_enabled',
  'collection_enabled',
  'open_order_limit',
  'held_value_limit',
  'customer_open_order_limit',
  'customer_held_value_limit',
] as const;

function requestOf(
  fields: Omit<Static<typeof PartnerPatchInput>, 'reason'>,
): Parameters<typeof changePartner>[3] {
  return {
    ...(fields.name === undefined ? {} : { name: fields.name }),
    ...(fields.wallet_address === undefined ? {} : { walletAddress: fields.wallet_address }),
    ...(fields.platform_fee_pct === undefined ? {} : { platformFeePct: fields.platform_fee_pct }),
    ...(fields.fiat_accounts_enabled === undefined
      ? {}
      : { fiatAccountsEnabled: fields.fiat_accounts_enabled }),
    ...(fields.collection_enabled === undefined ? {} : { collectionEnabled: fields.collection_enabled }),
    ...(fields.open_order_limit === undefined ? {} : { openOrderLimit: fields.open_order_limit }),
    ...(fields.held_value_limit === undefined ? {} : { heldValueLimit: fields.held_value_limit }),
    ...(fields.customer_open_order_limit === undefined
      ? {}
      : { customerOpenOrderLimit: fields.customer_open_order_limit }),
    ...(fields.customer_held_value_limit === undefined
      ? {}
      : { customerHeldValueLimit: fields.customer_held_value_limit }),
  };
}

function partnerView({ orderLimits }: PartnerRouteDeps, row: PartnerRow) {
  return {
    ...termsOf(row),
    deployment_limits: {
      open_order_limit: orderLimits.partnerOpenOrders,
      held_value_limit: orderLimits.partnerHeldValueUsd,
      customer_open_order_limit: orderLimits.customerOpenOrders,
      customer_held_value_limit: orderLimits.customerHeldValueUsd,
    },
  };
}

function termsOf(row: PartnerRow) {
  return {
    partner_id: row.partner_id,
    name: row.name,
    settlement_chain: row.settlement_chain,
    wallet_address: row.wallet_address,
    platform_fee_pct: row.platform_fee_pct,
    fiat_accounts_enabled: row.fiat_accounts_enabled,
    collection_enabled: row.collection_enabled,
    open_order_limit: row.open_order_limit,
    held_value_limit: row.held_value_limit,
    customer_open_order_limit: row.customer_open_order_limit,
    customer_held_value_limit: row.customer_held_value_limit,
    created_at: row.created_at.toISOString(),
  };
}
