import { Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { SYSTEM, vendorScope } from '../../db/database.ts';
import { operatorMutation, operatorRoute, vendorMutation, vendorRoute } from '../../http/route.ts';
import { OffsetPage, OPERATOR_TAG, PageQuery, Reason } from '../operators/operator.schemas.ts';
import { changeOffer, createOffer, decideAuthorization, endOffer, type OfferTools } from './manage-offers.ts';
import { NewOffer, OfferChange, OfferSchema, ReviewedOfferSchema } from './offer.schemas.ts';
import { countOffers, countOffersToReview, listOffers, offersToReview, setOnline } from './offer.store.ts';
import { offerView, reviewedOfferView } from './offer.view.ts';

const TAG = 'Vendor';
const OFFERS = '/api/v1/vendor/offers';
const OfferParams = Type.Object({ offer_id: Uuid });

/** Vendors say what they offer; the operator says which of it counts. */
export function registerOfferRoutes(app: FastifyInstance, tools: OfferTools): void {
  registerReads(app, tools);
  registerWrites(app, tools);
  registerOnline(app, tools);
  registerReview(app, tools);
}

function registerReads(app: FastifyInstance, tools: OfferTools): void {
  vendorRoute(
    app,
    {
      method: 'GET',
      url: OFFERS,
      operationId: 'listVendorOffers',
      tag: TAG,
      summary: 'This vendor’s offers, newest first',
      query: PageQuery,
      data: Type.Object({ offers: Type.Array(OfferSchema), pagination: OffsetPage }),
    },
    async ({ query }, { vendorId }) => {
      const [rows, [count]] = await Promise.all([
        tools.db.query(vendorScope(vendorId), listOffers, [vendorId, query.limit, query.offset]),
        tools.db.query(vendorScope(vendorId), countOffers, [vendorId]),
      ]);
      return { offers: rows.map(offerView), pagination: { total: Number(count?.total ?? 0), ...query } };
    },
  );
}

function registerWrites(app: FastifyInstance, tools: OfferTools): void {
  vendorMutation(
    app,
    tools,
    {
      method: 'POST',
      url: OFFERS,
      operationId: 'createVendorOffer',
      tag: TAG,
      summary: 'Make an offer',
      description: 'It serves nobody until the operator has authorized it.',
      body: NewOffer,
      data: OfferSchema,
      errors: ['OPERATION_NOT_ALLOWED'],
    },
    async ({ body }, { vendorId }, unit) => offerView(await createOffer(tools, unit, vendorId, body)),
  );

  vendorMutation(
    app,
    tools,
    {
      method: 'PATCH',
      url: `${OFFERS}/:offer_id`,
      operationId: 'changeVendorOffer',
      tag: TAG,
      summary: 'Change an offer',
      description:
        'A new price or balance counts at once. Another range, network, method or country waits for the operator’s authorization again.',
      params: OfferParams,
      body: OfferChange,
      data: OfferSchema,
      errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    },
    async ({ params, body }, { vendorId }, unit) =>
      offerView(await changeOffer(tools, unit, vendorId, params.offer_id, body)),
  );

  vendorMutation(
    app,
    tools,
    {
      method: 'DELETE',
      url: `${OFFERS}/:offer_id`,
      operationId: 'withdrawVendorOffer',
      tag: TAG,
      summary: 'Withdraw an offer for good',
      description: 'Orders that it already serves go on.',
      params: OfferParams,
      data: Type.Object({ offer_id: Uuid }),
      errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    },
    async ({ params }, { vendorId }, unit) => {
      await endOffer(tools, unit, vendorId, params.offer_id);
      return { offer_id: params.offer_id };
    },
  );
}

function registerOnline(app: FastifyInstance, tools: OfferTools): void {
  vendorMutation(
    app,
    tools,
    {
      method: 'PUT',
      url: '/api/v1/vendor/online',
      operationId: 'setVendorOnline',
      tag: TAG,
      summary: 'Take new orders, or none for now',
      body: Type.Object({ online: Type.Boolean() }),
      data: Type.Object({ online: Type.Boolean({ examples: [true] }) }),
    },
    async ({ body }, { vendorId }, unit) => {
      const [row] = await unit.tx.query(setOnline, [vendorId, body.online]);
      if (row === undefined) throw new Error(`there is no vendor ${vendorId}`);
      return row;
    },
  );
}

function registerReview(app: FastifyInstance, tools: OfferTools): void {
  operatorRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/operator/offers',
      operationId: 'listOffersForReview',
      tag: OPERATOR_TAG,
      summary: 'Offers of all vendors, oldest first',
      query: Type.Object({
        authorized: Type.Optional(Type.Boolean({ examples: [false] })),
        ...PageQuery.properties,
      }),
      data: Type.Object({ offers: Type.Array(ReviewedOfferSchema), pagination: OffsetPage }),
    },
    async ({ query: { authorized = null, ...page } }) => {
      const [rows, [count]] = await Promise.all([
        tools.db.query(SYSTEM, offersToReview, [authorized, page.limit, page.offset]),
        tools.db.query(SYSTEM, countOffersToReview, [authorized]),
      ]);
      return {
        offers: rows.map(reviewedOfferView),
        pagination: { total: Number(count?.total ?? 0), ...page },
      };
    },
  );

  operatorMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/operator/offers/:offer_id/authorization',
      operationId: 'decideOfferAuthorization',
      tag: OPERATOR_TAG,
      summary: 'Authorize an offer, or take the authorization back',
      params: OfferParams,
      body: Type.Object({
        authorized: Type.Boolean(),
        reason: Reason,
        version: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'Refused with 409 where the offer has changed since',
          }),
        ),
      }),
      data: Type.Object({ offer_id: Uuid, authorized: Type.Boolean(), version: Type.Integer() }),
      errors: ['OFFER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    },
    async ({ params, body }, operator, unit) => ({
      offer_id: params.offer_id,
      ...(await decideAuthorization(tools, unit, operator, params.offer_id, body)),
    }),
  );
}
