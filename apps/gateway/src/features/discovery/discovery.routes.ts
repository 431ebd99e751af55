import type { FastifyInstance } from 'fastify';
import { registerGatewayRoutes } from './gateway.routes.ts';
import { type RatesDeps, registerRatesRoutes } from './rates.routes.ts';
import { type ReferenceDeps, registerReferenceRoutes } from './reference.routes.ts';
import { registerSupportedRoutes, type SupportedDeps } from './supported.routes.ts';

export interface DiscoveryDeps extends SupportedDeps, RatesDeps, ReferenceDeps {}

/** Everything a partner reads before a first quote, and the operator's hand on it. */
export function registerDiscoveryRoutes(app: FastifyInstance, deps: DiscoveryDeps): void {
  registerSupportedRoutes(app, deps);
  registerRatesRoutes(app, deps);
  registerGatewayRoutes(app, deps.currencies);
  registerReferenceRoutes(app, deps);
}
