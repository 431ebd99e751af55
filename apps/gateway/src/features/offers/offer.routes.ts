import {
  OfferAuthorizationInput,
  OfferAuthorizationSchema,
  OfferInput,
  OfferListSchema,
  OfferParams,
  OfferPatchInput,
  OfferReviewQuery,
  OfferSchema,
  OPERATOR_TAG,
  PageQuery,
  ReviewedOfferListSchema,
  VendorOnlineInput,
  VendorOnlineSchema,
  WithdrawnOfferSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM, vendorScope } from '../../db/database.ts';
import { route } from '../../http/route.ts';
import { changeOffer, createOffer, decideAuthorization, endOffer, type OfferDeps } from './manage-offers.ts';
import { countOffers, countOffersToReview, listOffers, offersToReview, setOnline } from './offer.store.ts';
import { offerView, reviewedOfferView } from './offer.view.ts';

const TAG = 'Vendor';
const OFFERS = '/api/v1/vendor/offers';

/** Vendors say what they offer; the operator says which of it counts. */
export function registerOfferRoutes(app: FastifyInstance, deps: OfferDeps): void {
  registerReads(app, deps);
  registerWrites(app, deps);
  registerOnline(app, deps);
  registerReview(app, deps);
}

function registerReads(app: FastifyInstance, deps: OfferDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: OFFERS,
    operationId: 'listVendorOffers',
    tag: TAG,
    summary: 'List offers of this vendor, newest first',
    query: PageQuery,
    data: OfferListSchema,
    handle: async ({ query }, { vendorId }) => {
      const [rows, [count]] = await Promise.all([
        deps.db.query(vendorScope(vendorId), listOffers, [vendorId, query.limit, query.offset]),
        deps.db.query(vendorScope(vendorId), countOffers, [vendorId]),
      ]);
      return { offers: rows.map(offerView), pagination: { total: Number(count?.total ?? 0), ...query } };
    },
  });
}

function registerWrites(app: FastifyInstance, deps: OfferDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: OFFERS,
    operationId: 'createVendorOffer',
    tag: TAG,
    summary: 'Create an offer',
    description: 'It is not matched until the operator has authorized it.',
    body: OfferInput,
    data: OfferSchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ body }, { vendorId }, unit) => offerView(await createOffer(deps, unit, vendorId, body)),
  });

  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: `${OFFERS}/:offer_id`,
    operationId: 'changeVendorOffer',
    tag: TAG,
    summary: 'Change an offer',
    description:
      'A new price or balance counts at once. Another range, network, method or country waits for the operator’s authorization again.',
    params: OfferParams,
    body: OfferPatchInput,
    data: OfferSchema,
    errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, { vendorId }, unit) =>
      offerView(await changeOffer(deps, unit, vendorId, params.offer_id, body)),
  });

  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: `${OFFERS}/:offer_id`,
    operationId: 'withdrawVendorOffer',
    tag: TAG,
    summary: 'Withdraw an offer',
    description: 'It cannot be undone. Orders that it already serves go on.',
    params: OfferParams,
    data: WithdrawnOfferSchema,
    errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params }, { vendorId }, unit) => {
      await endOffer(deps, unit, vendorId, params.offer_id);
      return { offer_id: params.offer_id };
    },
  });
}

function registerOnline(app: FastifyInstance, deps: OfferDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'PUT',
    url: '/api/v1/vendor/online',
    operationId: 'setVendorOnline',
    tag: TAG,
    summary: 'Set the vendor online or offline',
    body: VendorOnlineInput,
    data: VendorOnlineSchema,
    handle: async ({ body }, { vendorId }, unit) => {
      const [row] = await unit.tx.query(setOnline, [vendorId, body.online]);
      if (row === undefined) throw new Error(`there is no vendor ${vendorId}`);
      return row;
    },
  });
}

function registerReview(app: FastifyInstance, deps: OfferDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/offers',
    operationId: 'listOffersForReview',
    tag: OPERATOR_TAG,
    summary: 'List offers of all vendors for review, oldest first',
    query: OfferReviewQuery,
    data: ReviewedOfferListSchema,
    handle: async ({ query: { authorized = null, vendor_id: vendorId = null, ...page } }) => {
      const [rows, [count]] = await Promise.all([
        deps.db.query(SYSTEM, offersToReview, [authorized, vendorId, page.limit, page.offset]),
        deps.db.query(SYSTEM, countOffersToReview, [authorized, vendorId]),
      ]);
      return {
        offers: rows.map(reviewedOfferView),
        pagination: { total: Number(count?.total ?? 0), ...page },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/operator/offers/:offer_id/authorization',
    operationId: 'decideOfferAuthorization',
    tag: OPERATOR_TAG,
    summary: 'Authorize an offer, or revoke the authorization',
    params: OfferParams,
    body: OfferAuthorizationInput,
    data: OfferAuthorizationSchema,
    errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator, unit) => ({
      offer_id: params.offer_id,
      ...(await decideAuthorization(deps, unit, operator, params.offer_id, body)),
    }),
  });
}
