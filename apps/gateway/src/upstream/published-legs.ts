import type { RateReading } from '@causeway/currencies';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** The legs of a rate book as they are stored in the database and sent by a remote backend. */
const CODE = Type.String({ pattern: '^[A-Z0-9]{3,10}$' });
const PublishedLeg = Type.Object({
  base: CODE,
  quote: CODE,
  rate: Type.Union([Type.String({ pattern: '^[0-9]{1,40}(\\.[0-9]{1,40})?$' }), Type.Null()]),
  as_of: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  sources: Type.Array(Type.String({ minLength: 1, maxLength: 80 }), { maxItems: 50 }),
  status: Type.Union([
    Type.Literal('fresh'),
    Type.Literal('stale'),
    Type.Literal('missing'),
    Type.Literal('guarded'),
  ]),
});
type PublishedLeg = Static<typeof PublishedLeg>;

const MAX_LEGS = 5_000;
const publishedLegs = Compile(Type.Array(PublishedLeg, { maxItems: MAX_LEGS }));

export function toPublishedLegs(legs: readonly RateReading[]): PublishedLeg[] {
  return legs.map(({ base, quote, rate, asOf, sources, status }) => ({
    base,
    quote,
    rate,
    as_of: asOf,
    sources: [...sources],
    status,
  }));
}

/** Undefined where the value is anything else than legs: whoever sent it is not to be believed in part. */
export function parsePublishedLegs(value: unknown): RateReading[] | undefined {
  if (!publishedLegs.Check(value)) return undefined;
  return value.map(({ base, quote, rate, as_of, sources, status }) => ({
    base,
    quote,
    rate,
    asOf: as_of,
    sources,
    status,
  }));
}
