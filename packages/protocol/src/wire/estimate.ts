import { Type } from 'typebox';
import { OfframpPricingRequest, PricedSchema, PricingRequest } from './quote.ts';

export const OnrampEstimateRequest = PricingRequest;
export const OfframpEstimateRequest = OfframpPricingRequest;

export const EstimateSchema = Type.Object({
  ...PricedSchema.properties,
  provider_scope: Type.String(),
  is_indicative: Type.Literal(true),
});
