import {
  CausewayError,
  NewVendorSchema,
  OPERATOR_TAG,
  PageQuery,
  SandboxNewVendorSchema,
  SandboxVendorInput,
  VendorInput,
  VendorListSchema,
  VendorParams,
  VendorPatchInput,
  VendorSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../../chain/chains.ts';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { makerFor } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import { issueKey, NO_REASON, seeChangedKeys } from '../../api-keys/keys.ts';
import { fundNewWallet } from '../../sandbox/faucet.ts';
import { lookUpWallet, takeWallet } from '../../screening/screen-wallet.ts';
import { keepWallet, makeWallet } from '../../vendors/simulated-vendor.ts';
import {
  countVendors,
  findVendor,
  insertVendor,
  isPartnerWallet,
  listVendors,
  lockVendor,
  setVendorActive,
  type VendorRow,
} from './accounts.store.ts';
import type { KeyRouteDeps } from './keys.routes.ts';
import { type PartnerDeps, refuseTakenName, requireOwnWallet } from './partners.ts';

export interface VendorAdminDeps extends KeyRouteDeps, Omit<PartnerDeps, 'chains'> {
  readonly chains: Chains;
}

const SHOWN_ONCE = 'The key is shown only in this answer. It works at once.';
const IN_A_SANDBOX =
  'Without wallet_address the sandbox makes a wallet, funds it within seconds, and lets the vendor act by itself.';

const VENDORS = '/api/v1/operator/vendors';
const VENDOR = `${VENDORS}/:vendor_id`;

/** Vendors: who may serve orders. */
export function registerVendorAdminRoutes(app: FastifyInstance, deps: VendorAdminDeps): void {
  registerCreation(app, deps);
  registerReads(app, deps);
  registerChange(app, deps);
}

function registerCreation(app: FastifyInstance, deps: VendorAdminDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: VENDORS,
    operationId: 'createVendor',
    tag: OPERATOR_TAG,
    summary: 'Create a vendor with its first key',
    description: deps.sandbox ? `${SHOWN_ONCE} ${IN_A_SANDBOX}` : SHOWN_ONCE,
    body: deps.sandbox ? SandboxVendorInput : VendorInput,
    data: deps.sandbox ? SandboxNewVendorSchema : NewVendorSchema,
    errors: ['OPERATION_NOT_ALLOWED', 'WALLET_NOT_CLEARED', 'SERVICE_UNAVAILABLE'],
    readFirst: async ({ body }) => {
      const made = body.wallet_address === undefined ? makeWallet() : undefined;
      const address = made?.address ?? body.wallet_address ?? '';
      return { made, address, look: await lookUpWallet(deps, address) };
    },
    handle: async ({ body }, operator, unit, { made, address, look }) => {
      await takeWallet(unit, address, look);
      await requireOwnWallet(unit, deps.chains, address, isPartnerWallet, 'a partner');
      const ownerId = unit.ids.uuid();
      const [row] = await refuseTakenName(
        unit.tx.query(insertVendor, [ownerId, body.name, address, body.kind, unit.at]),
      );
      if (row === undefined) throw new Error('the new vendor was not returned');
      if (made !== undefined) {
        keepWallet(unit, deps.sealer, ownerId, made);
        fundNewWallet(unit, deps.chains, made.address);
      }
      const key = issueKey(unit, deps.sandbox, { kind: 'vendor', ownerId }, 'first key', makerFor(operator));
      recordAction(unit, operator, {
        action: 'vendor.create',
        subject: `vendors/${ownerId}`,
        reason: body.reason ?? NO_REASON,
        after: { ...vendorView(row), key_ids: [key.key_id] },
      });
      return {
        vendor: vendorView(row),
        vendor_key: key,
        ...(made === undefined ? {} : { wallet_private_key: made.privateKey }),
      };
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}

function registerReads(app: FastifyInstance, { db }: VendorAdminDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: VENDORS,
    operationId: 'listVendors',
    tag: OPERATOR_TAG,
    summary: 'List vendors, newest first',
    query: PageQuery,
    data: VendorListSchema,
    handle: async ({ query: { limit, offset } }) => {
      const [rows, [count]] = await db.transaction(SYSTEM, (tx) =>
        tx.queryBoth(listVendors, [limit, offset], countVendors, []),
      );
      return {
        vendors: rows.map(vendorView),
        pagination: { total: Number(count?.total ?? 0), limit, offset },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: VENDOR,
    operationId: 'getVendor',
    tag: OPERATOR_TAG,
    summary: 'Get a vendor',
    params: VendorParams,
    data: VendorSchema,
    errors: ['VENDOR_NOT_FOUND'],
    handle: async ({ params }) => {
      const [row] = await db.query(SYSTEM, findVendor, [params.vendor_id]);
      if (row === undefined) throw new CausewayError('VENDOR_NOT_FOUND');
      return vendorView(row);
    },
  });
}

function registerChange(app: FastifyInstance, deps: VendorAdminDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: VENDOR,
    operationId: 'changeVendor',
    tag: OPERATOR_TAG,
    summary: 'Activate or deactivate a vendor',
    description: 'An inactive vendor keeps its keys, so that it can finish what it has accepted.',
    params: VendorParams,
    body: VendorPatchInput,
    data: VendorSchema,
    errors: ['VENDOR_NOT_FOUND'],
    handle: async ({ params, body }, operator, unit) => {
      const [before] = await unit.tx.query(lockVendor, [params.vendor_id]);
      const [after] = await unit.tx.query(setVendorActive, [params.vendor_id, body.active]);
      if (before === undefined || after === undefined) throw new CausewayError('VENDOR_NOT_FOUND');
      recordAction(unit, operator, {
        action: 'vendor.change',
        subject: `vendors/${after.vendor_id}`,
        reason: body.reason,
        before: { active: before.active },
        after: { active: after.active },
      });
      return vendorView(after);
    },
  });
}

function vendorView(row: VendorRow) {
  return {
    vendor_id: row.vendor_id,
    name: row.name,
    wallet_address: row.wallet_address,
    kind: row.kind,
    active: row.active,
    online: row.online,
    reputation: {
      completed_orders: row.completed_orders,
      failed_orders: row.failed_orders,
      disputed_orders: row.disputed_orders,
    },
    created_at: row.created_at.toISOString(),
  };
}
