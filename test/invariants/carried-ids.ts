import { type IdKind, KIND_BY_NAME, KINDS, NO_CUSTOMERS_IDS, PRICE } from './customer-fixture.ts';
import { type DescribedRoute, type PathParameter, type Schema, sampleOf } from './described-routes.ts';
import { BODIES } from './id-factories.ts';

/** An id of something of a customer's, and where a request carries it. */
export interface CarriedId {
  readonly place: 'path' | 'query' | 'body';
  readonly name: string;
  readonly kind: IdKind;
}

/** A request that is right once the ids are filled in. */
export interface CarryingRequest {
  readonly ids: readonly CarriedId[];
  readonly body: Readonly<Record<string, unknown>>;
}

interface BodyTemplate {
  readonly ids: Readonly<Record<string, IdKind>>;
  readonly rest?: Readonly<Record<string, unknown>>;
}

/** Where the schema alone does not say which fields go together, by operationId. */
const TEMPLATES: Readonly<Record<string, readonly BodyTemplate[]>> = {
  createOnrampQuote: [{ ids: { user_uuid: 'user' }, rest: PRICE }],
  createOfframpQuote: [
    { ids: { user_uuid: 'user', payment_details_id: 'payment_details' }, rest: PRICE },
    {
      ids: { sender_id: 'user', recipient_id: 'recipient', recipient_destination_id: 'destination' },
      rest: PRICE,
    },
  ],
  initiateOfframp: [{ ids: { quote_id: 'offramp_quote' } }],
  decideFiatPayment: [{ ids: { order_id: 'order' }, rest: { decision: 'match', reason: 'said by a test' } }],
  submitPayerDetails: [{ ids: { payment_details_id: 'payer_details' } }],
  sandboxWidgetOrder: [
    { ids: { user_uuid: 'user', payment_details_id: 'payment_details' }, rest: { order_type: 'offramp' } },
  ],
};

const LOOKS_LIKE_AN_ID = /_(?:id|uuid)$/;

/** Whether a request to it names something of a customer's beyond one id in its path, which has tests of its own. */
export function carriesCustomersIds(route: DescribedRoute): boolean {
  if (route.access !== 'partner' && route.access !== 'operator') return false;
  return requestsOf(route).some(({ ids }) =>
    ids.some(({ place, kind }) => place !== 'path' || KINDS[kind].within !== undefined),
  );
}

/** Names that this suite does not know, or that none of a route's templates fills in. */
export function undeclaredIds(route: DescribedRoute): string[] {
  const filled = new Set(requestsOf(route).flatMap(({ ids }) => ids.map(({ name }) => name)));
  return [...route.queryNames, ...propertiesOf(route.bodySchema)]
    .filter((name) => LOOKS_LIKE_AN_ID.test(name) && !NO_CUSTOMERS_IDS.has(name) && !filled.has(name))
    .map(
      (name) =>
        `${route.operationId} ${name}: say what it is in KIND_BY_NAME (customer-fixture.ts), or how it is sent in TEMPLATES (carried-ids.ts)`,
    );
}

/** Ids that stand behind another one in a path, whose owner is not declared. */
export function unownedPairs({ parameters, operationId }: DescribedRoute): string[] {
  return parameters.slice(1).flatMap((child) => {
    if (NO_CUSTOMERS_IDS.has(child.qualified)) return [];
    const kind = kindOf(child);
    return kind !== undefined && KINDS[kind].within !== undefined
      ? []
      : [`${operationId} ${child.qualified}: say whose it is in KINDS (customer-fixture.ts)`];
  });
}

const kindOf = ({ qualified, name }: PathParameter) => KIND_BY_NAME[qualified] ?? KIND_BY_NAME[name];

export function requestsOf(route: DescribedRoute): CarryingRequest[] {
  const carried = (place: CarriedId['place'], names: readonly string[]): CarriedId[] =>
    names.flatMap((name) => {
      const kind = KIND_BY_NAME[name];
      return kind === undefined ? [] : [{ place, name, kind }];
    });
  const inPath = route.parameters.flatMap((parameter): CarriedId[] => {
    const kind = kindOf(parameter);
    return kind === undefined ? [] : [{ place: 'path', name: parameter.name, kind }];
  });
  const outside = [...inPath, ...carried('query', route.queryNames)];
  const templates = TEMPLATES[route.operationId];
  if (templates === undefined) {
    const rest = (BODIES[route.operationId] ?? sampleOf(route.bodySchema) ?? {}) as Record<string, unknown>;
    return [
      { ids: [...outside, ...carried('body', [...new Set(propertiesOf(route.bodySchema))])], body: rest },
    ];
  }
  return templates.map(({ ids, rest = {} }) => ({
    ids: [...outside, ...Object.entries(ids).map(([name, kind]) => ({ place: 'body' as const, name, kind }))],
    body: rest,
  }));
}

function propertiesOf(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [...Object.keys(schema.properties ?? {}), ...alternatives.flatMap(propertiesOf)];
}
