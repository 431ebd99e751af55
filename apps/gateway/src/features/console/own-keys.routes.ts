import {
  CausewayError,
  KeyListSchema,
  KeyParams,
  KeyRollInput,
  ListedKeySchema,
  NewKeySchema,
  OwnKeyInput,
  PageQuery,
  RolledKeySchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { recordAction } from '../../engine/audit.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import type { Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import {
  issueKey,
  type KeyOwner,
  keySubject,
  listedKeyView,
  listKeys,
  requireRoomForKey,
  revokeKey,
  rollKey,
  seeChangedKeys,
} from '../api-keys/keys.ts';
import { consoleRoute } from './session.routes.ts';

export interface OwnKeyDeps extends UnitDeps {
  readonly principals: Pick<Principals, 'refresh'>;
  readonly sandbox: boolean;
}

/** The audit log always has a reason; people manage their own keys without giving one. */
const AT_THE_CONSOLE = 'by the owner, at the console';

/** Partners and vendors manage their own keys. Every statement runs as the owner, so that no other key is within reach. */
export function registerOwnKeyRoutes(app: FastifyInstance, deps: OwnKeyDeps): void {
  const afterCommit = () => seeChangedKeys(deps.principals);

  route(app, {
    ...consoleRoute('listOwnKeys'),
    access: 'console',
    transaction: 'none',
    summary: 'List the keys of one’s own, newest first',
    query: PageQuery,
    data: KeyListSchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ query }, caller) => {
      const { ownerId } = ownerOf(caller);
      const { rows, total } = await listKeys(deps.db, scopeOf(caller), ownerId, query);
      const at = deps.clock.date();
      return { keys: rows.map((row) => listedKeyView(row, at)), pagination: { total, ...query } };
    },
  });

  route(app, {
    ...consoleRoute('createOwnKey'),
    access: 'console',
    transaction: 'unit',
    deps,
    summary: 'Create a key of one’s own',
    body: OwnKeyInput,
    data: NewKeySchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ body }, caller, unit) => {
      const owner = ownerOf(caller, body.kind);
      await requireRoomForKey(unit, owner.ownerId);
      const key = issueKey(unit, deps.sandbox, owner, body.label ?? '');
      recordAction(unit, caller, {
        action: 'key.create',
        subject: keySubject(owner, key.key_id),
        reason: AT_THE_CONSOLE,
        after: { key_id: key.key_id, kind: key.kind, hint: key.hint, label: key.label },
      });
      return key;
    },
    afterCommit,
  });

  route(app, {
    ...consoleRoute('rollOwnKey'),
    access: 'console',
    transaction: 'unit',
    deps,
    summary: 'Create a key in place of another, which ends after the grace',
    params: KeyParams,
    body: KeyRollInput,
    data: RolledKeySchema,
    errors: ['KEY_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, caller, unit) => {
      const { key, old, endsAt } = await rollKey(unit, deps.sandbox, params.key_id, body.grace_hours);
      recordAction(unit, caller, {
        action: 'key.roll',
        subject: keySubject(ownerOf(caller), key.key_id),
        reason: AT_THE_CONSOLE,
        before: { key_id: old.key_id, hint: old.hint, label: old.label },
        after: { key_id: key.key_id, hint: key.hint, old_key_ends_at: endsAt.toISOString() },
      });
      return { key, old_key_id: old.key_id, old_key_ends_at: endsAt.toISOString() };
    },
    afterCommit,
  });

  route(app, {
    ...consoleRoute('revokeOwnKey'),
    access: 'console',
    transaction: 'unit',
    deps,
    summary: 'Revoke a key of one’s own',
    params: KeyParams,
    data: ListedKeySchema,
    errors: ['OPERATION_NOT_ALLOWED', 'KEY_NOT_FOUND'],
    handle: async ({ params }, caller, unit) => {
      const owner = ownerOf(caller);
      const { key, changed } = await revokeKey(unit, params.key_id);
      if (changed) {
        recordAction(unit, caller, {
          action: 'key.revoke',
          subject: keySubject(owner, key.key_id),
          reason: AT_THE_CONSOLE,
          before: { key_id: key.key_id, hint: key.hint, label: key.label },
        });
      }
      return listedKeyView({ ...key, last_used_at: null }, unit.at);
    },
    afterCommit,
  });
}

/** Operators have routes of their own for every key there is. */
function ownerOf(
  caller: ConsolePrincipal,
  kind: 'secret' | 'widget' = 'secret',
): KeyOwner & { ownerId: string } {
  if (caller.kind === 'partner') {
    return { kind: kind === 'widget' ? 'widget' : 'partner', ownerId: caller.partnerId };
  }
  if (caller.kind === 'vendor') return { kind: 'vendor', ownerId: caller.vendorId };
  throw new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'Operators manage keys at their own page of keys.',
  });
}
