import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  ALL_METHODS,
  OFFER_SIDES,
  type Offer,
  type OfferRows,
  VENDOR_KINDS,
  type Vendor,
} from '../book/index.ts';
import { WireFormatError } from './wire-format.error.ts';

/** Vendors and offers as `GET /snapshot` sends them and as a file of rows holds them. */

const Id = Type.String({ minLength: 1, maxLength: 100 });
const Slug = Type.String({ minLength: 1, maxLength: 100 });
const Code = Type.String({ pattern: '^[A-Z0-9]{2,10}$' });
// Digits are judged where the book reads them; here only the work is bounded.
const DecimalText = Type.String({ minLength: 1, maxLength: 80 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const WireVendor = Type.Object({
  vendor_id: Id,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  kind: Type.Enum([...VENDOR_KINDS]),
  active: Type.Boolean(),
  online: Type.Boolean(),
  reputation: Type.Object({ completed_orders: Count, failed_orders: Count, disputed_orders: Count }),
});

const WireOffer = Type.Object({
  offer_id: Id,
  vendor_id: Id,
  kind: Type.Enum([...VENDOR_KINDS]),
  side: Type.Enum([...OFFER_SIDES]),
  crypto_currency: Code,
  fiat_currency: Code,
  pricing: Type.Union([
    Type.Object({ type: Type.Literal('fixed'), price: DecimalText }),
    Type.Object({ type: Type.Literal('margin'), percent: DecimalText }),
  ]),
  min_amount: DecimalText,
  max_amount: DecimalText,
  payment_options: Type.Array(
    Type.Object({
      network_slug: Slug,
      method_slugs: Type.Union([Type.Literal(ALL_METHODS), Type.Array(Slug, { maxItems: 5_000 })]),
    }),
    { maxItems: 200 },
  ),
  countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { maxItems: 300 }),
  available_balance: DecimalText,
  authorized: Type.Boolean(),
  version: Count,
  created_at: Count,
});

const WireRows = Type.Object({ vendors: Type.Array(WireVendor), offers: Type.Array(WireOffer) });
const wireRows = Compile(WireRows);

export type WireOfferRows = Static<typeof WireRows>;

export function toWireRows({ vendors, offers }: OfferRows): WireOfferRows {
  return { vendors: vendors.map(toWireVendor), offers: offers.map(toWireOffer) };
}

/** Throws a WireFormatError that names the place. Unknown fields are ignored. */
export function parseWireRows(input: unknown): OfferRows {
  if (!wireRows.Check(input)) {
    const [first] = wireRows.Errors(input);
    throw new WireFormatError(first?.instancePath ?? '', first?.message ?? 'is not valid');
  }
  return { vendors: input.vendors.map(fromWireVendor), offers: input.offers.map(fromWireOffer) };
}

function toWireVendor({
  vendorId,
  reputation,
  name,
  kind,
  active,
  online,
}: Vendor): Static<typeof WireVendor> {
  return {
    vendor_id: vendorId,
    name,
    kind,
    active,
    online,
    reputation: {
      completed_orders: reputation.completedOrders,
      failed_orders: reputation.failedOrders,
      disputed_orders: reputation.disputedOrders,
    },
  };
}

function fromWireVendor({
  vendor_id,
  name,
  kind,
  active,
  online,
  reputation,
}: Static<typeof WireVendor>): Vendor {
  return {
    vendorId: vendor_id,
    name,
    kind,
    active,
    online,
    reputation: {
      completedOrders: reputation.completed_orders,
      failedOrders: reputation.failed_orders,
      disputedOrders: reputation.disputed_orders,
    },
  };
}

function toWireOffer(offer: Offer): Static<typeof WireOffer> {
  return {
    offer_id: offer.offerId,
    vendor_id: offer.vendorId,
    kind: offer.kind,
    side: offer.side,
    crypto_currency: offer.cryptoCurrency,
    fiat_currency: offer.fiatCurrency,
    pricing: offer.pricing,
    min_amount: offer.minAmount,
    max_amount: offer.maxAmount,
    payment_options: offer.paymentOptions.map(({ networkSlug, methodSlugs }) => ({
      network_slug: networkSlug,
      method_slugs: methodSlugs === ALL_METHODS ? ALL_METHODS : [...methodSlugs],
    })),
    countries: [...offer.countries],
    available_balance: offer.availableBalance,
    authorized: offer.authorized,
    version: offer.version,
    created_at: offer.createdAt,
  };
}

function fromWireOffer(wire: Static<typeof WireOffer>): Offer {
  const { pricing } = wire;
  return {
    offerId: wire.offer_id,
    vendorId: wire.vendor_id,
    kind: wire.kind,
    side: wire.side,
    cryptoCurrency: wire.crypto_currency,
    fiatCurrency: wire.fiat_currency,
    pricing:
      pricing.type === 'fixed'
        ? { type: 'fixed', price: pricing.price }
        : { type: 'margin', percent: pricing.percent },
    minAmount: wire.min_amount,
    maxAmount: wire.max_amount,
    paymentOptions: wire.payment_options.map(({ network_slug, method_slugs }) => ({
      networkSlug: network_slug,
      methodSlugs: method_slugs,
    })),
    countries: wire.countries,
    availableBalance: wire.available_balance,
    authorized: wire.authorized,
    version: wire.version,
    createdAt: wire.created_at,
  };
}
