import {
  CausewayError,
  KeyInput,
  KeyListSchema,
  KeyParams,
  KeyRevocationQuery,
  KeySchema,
  NewKeySchema,
  OPERATOR_TAG,
  PageQuery,
  PartnerKeyInput,
  PartnerParams,
  VendorParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { type Reading, reading, SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import type { UnitDeps, UnitOfWork } from '../../../engine/unit-of-work.ts';
import { type KeyKind, makerFor, type OperatorPrincipal, type Principals } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import {
  issueKey,
  type KeyOwner,
  keySubject,
  keyView,
  listedKeyView,
  listKeys,
  NO_REASON,
  revokeKey,
  seeChangedKeys,
} from '../../api-keys/keys.ts';
import { findPartner, findVendor } from './accounts.store.ts';

export interface KeyRouteDeps extends UnitDeps {
  readonly principals: Pick<Principals, 'refresh'>;
  readonly sandbox: boolean;
}

const PARTNER_KEYS = '/api/v1/operator/partners/:partner_id/keys';
const VENDOR_KEYS = '/api/v1/operator/vendors/:vendor_id/keys';
const OPERATOR_KEYS = '/api/v1/operator/operator-keys';

const ONCE = 'The key is shown only in this answer. It works at once.';

/** Who may call: keys of partners, vendors and operators. */
export function registerKeyRoutes(app: FastifyInstance, deps: KeyRouteDeps): void {
  registerPartnerKeys(app, deps);
  registerVendorKeys(app, deps);
  registerOperatorKeys(app, deps);
  registerRevocation(app, deps);
}

function registerPartnerKeys(app: FastifyInstance, deps: KeyRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: PARTNER_KEYS,
    operationId: 'createPartnerKey',
    tag: OPERATOR_TAG,
    summary: 'Create a partner key',
    description: ONCE,
    params: PartnerParams,
    body: PartnerKeyInput,
    data: NewKeySchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params: { partner_id: partnerId }, body }, operator, unit) => {
      await requirePartner(unit.tx, partnerId);
      const kind: KeyKind = body.kind === 'secret' ? 'partner' : 'widget';
      return makeKey(deps, unit, operator, { kind, ownerId: partnerId }, body);
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: PARTNER_KEYS,
    operationId: 'listPartnerKeys',
    tag: OPERATOR_TAG,
    summary: 'List keys of a partner, newest first',
    params: PartnerParams,
    query: PageQuery,
    data: KeyListSchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params, query }) => {
      await requirePartner(reading(deps.db, SYSTEM), params.partner_id);
      return keyPage(deps, params.partner_id, query);
    },
  });
}

function registerVendorKeys(app: FastifyInstance, deps: KeyRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: VENDOR_KEYS,
    operationId: 'createVendorKey',
    tag: OPERATOR_TAG,
    summary: 'Create a vendor key',
    description: ONCE,
    params: VendorParams,
    body: KeyInput,
    data: NewKeySchema,
    errors: ['VENDOR_NOT_FOUND'],
    handle: async ({ params: { vendor_id: vendorId }, body }, operator, unit) => {
      await requireVendor(unit.tx, vendorId);
      return makeKey(deps, unit, operator, { kind: 'vendor', ownerId: vendorId }, body);
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: VENDOR_KEYS,
    operationId: 'listVendorKeys',
    tag: OPERATOR_TAG,
    summary: 'List keys of a vendor, newest first',
    params: VendorParams,
    query: PageQuery,
    data: KeyListSchema,
    errors: ['VENDOR_NOT_FOUND'],
    handle: async ({ params, query }) => {
      await requireVendor(reading(deps.db, SYSTEM), params.vendor_id);
      return keyPage(deps, params.vendor_id, query);
    },
  });
}

function registerOperatorKeys(app: FastifyInstance, deps: KeyRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: OPERATOR_KEYS,
    operationId: 'createOperatorKey',
    tag: OPERATOR_TAG,
    summary: 'Create an operator key',
    description: ONCE,
    body: KeyInput,
    data: NewKeySchema,
    handle: ({ body }, operator, unit) =>
      makeKey(deps, unit, operator, { kind: 'operator', ownerId: null }, body),
    afterCommit: () => seeChangedKeys(deps.principals),
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: OPERATOR_KEYS,
    operationId: 'listOperatorKeys',
    tag: OPERATOR_TAG,
    summary: 'List operator keys, newest first',
    query: PageQuery,
    data: KeyListSchema,
    handle: ({ query }) => keyPage(deps, null, query),
  });
}

function registerRevocation(app: FastifyInstance, deps: KeyRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: '/api/v1/operator/keys/:key_id',
    operationId: 'revokeKey',
    tag: OPERATOR_TAG,
    summary: 'Revoke a key of any kind',
    description:
      'Refused everywhere within a second, for good. Revoking again changes nothing. The last operator key stays.',
    params: KeyParams,
    query: KeyRevocationQuery,
    data: KeySchema,
    errors: ['KEY_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, query }, operator, unit) => {
      const { key, changed } = await revokeKey(unit, params.key_id);
      if (changed) {
        recordAction(unit, operator, {
          action: 'key.revoke',
          subject: keySubject({ kind: key.kind, ownerId: key.owner_id }, key.key_id),
          reason: query.reason ?? NO_REASON,
          before: { key_id: key.key_id, hint: key.hint, label: key.label },
        });
      }
      return keyView(key);
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}

function makeKey(
  { sandbox }: KeyRouteDeps,
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  owner: KeyOwner,
  { label = '', reason = NO_REASON }: Static<typeof KeyInput>,
) {
  const key = issueKey(unit, sandbox, owner, label, makerFor(operator));
  recordAction(unit, operator, {
    action: 'key.create',
    subject: keySubject(owner, key.key_id),
    reason,
    after: { key_id: key.key_id, kind: key.kind, hint: key.hint, label },
  });
  return key;
}

async function keyPage(
  { db, clock }: KeyRouteDeps,
  ownerId: string | null,
  page: { readonly limit: number; readonly offset: number },
) {
  const { rows, total } = await listKeys(db, SYSTEM, ownerId, page);
  return { keys: rows.map((row) => listedKeyView(row, clock.date())), pagination: { total, ...page } };
}

async function requirePartner(reads: Reading, partnerId: string): Promise<void> {
  const [row] = await reads.query(findPartner, [partnerId]);
  if (row === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
}

async function requireVendor(reads: Reading, vendorId: string): Promise<void> {
  const [row] = await reads.query(findVendor, [vendorId]);
  if (row === undefined) throw new CausewayError('VENDOR_NOT_FOUND');
}
