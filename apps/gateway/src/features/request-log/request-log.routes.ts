import {
  OPERATOR_TAG,
  OperatorRequestLogQuery,
  OperatorRequestLogSchema,
  RequestLogQuery,
  RequestLogSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Database, partnerScope, SYSTEM, vendorScope } from '../../db/database.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { readRequests } from './read-requests.ts';
import { recordRequests } from './record-requests.ts';
import { createRequestWriter, type RequestWriterDeps } from './write-requests.ts';

export interface RequestLogDeps extends RequestWriterDeps {
  readonly db: Database;
  readonly principals: Principals;
  readonly wall: () => number;
  /** 0: none are logged. */
  readonly keptDays: number;
}

const NEWEST =
  'Newest first; with `after` oldest first, to follow the log: give `next_cursor` of each answer as `after` of the next. A request is there about a second after its answer.';
const WHAT =
  'No bodies, and nothing personal: values of free text are left out. Reading this log is not logged, nor are routes that take no key.';

/** Called before all other routes: it notes the requests of those that are declared after it. */
export function registerRequestLog(app: FastifyInstance, deps: RequestLogDeps): void {
  registerReads(app, deps);
  if (deps.keptDays === 0) return;
  const writer = createRequestWriter(deps);
  recordRequests(app, { writer, principals: deps.principals, wall: deps.wall });
  app.addHook('onClose', () => writer.stop());
}

function registerReads(app: FastifyInstance, { db }: RequestLogDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/request-log',
    operationId: 'listRequests',
    tag: 'Request log',
    summary: 'List your API requests',
    description: `${NEWEST} ${WHAT}`,
    query: RequestLogQuery,
    data: RequestLogSchema,
    handle: ({ query }, { partnerId }) =>
      readRequests(db, { scope: partnerScope(partnerId), ownerId: partnerId }, query),
  });

  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/vendor/request-log',
    operationId: 'listVendorRequests',
    tag: 'Vendor',
    summary: 'List API requests of this vendor',
    description: `${NEWEST} ${WHAT}`,
    query: RequestLogQuery,
    data: RequestLogSchema,
    handle: ({ query }, { vendorId }) =>
      readRequests(db, { scope: vendorScope(vendorId), ownerId: vendorId }, query),
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/request-log',
    operationId: 'listAllRequests',
    tag: OPERATOR_TAG,
    summary: 'List API requests of partners and vendors',
    description: `${NEWEST} Cursors with \`partner_id\` or \`vendor_id\` are those of this partner or vendor, and not to be used without it. ${WHAT}`,
    query: OperatorRequestLogQuery,
    data: OperatorRequestLogSchema,
    handle: ({ query: { partner_id, vendor_id, ...query } }) => {
      if (partner_id !== undefined && vendor_id !== undefined) {
        throw invalidRequest('vendor_id', 'goes without partner_id');
      }
      const ownerId = partner_id ?? vendor_id ?? null;
      return readRequests(db, { scope: SYSTEM, ownerId }, query);
    },
  });
}
