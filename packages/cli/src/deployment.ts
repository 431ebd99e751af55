import { Causeway, type ClientOptions, isCausewayError } from '@causeway/sdk';
import { CommandError, EXIT } from './exit.ts';
import { type DeploymentKind, type KeyClass, type Profile, safeAddress } from './profile.ts';
import { firstOf } from './signals.ts';
import { VERSION } from './version.ts';

const HEADERS = { 'user-agent': `causeway-cli/${VERSION}` };

/** A client with the profile's key of that class. */
export function clientOf(profile: Profile, keyClass: KeyClass): Causeway {
  return connect(profile.baseUrl, keyOf(profile, keyClass));
}

/** Every client with a key is made here: none goes over plain http to another machine. */
export function connect(baseUrl: string, apiKey: string, options: Partial<ClientOptions> = {}): Causeway {
  return new Causeway({ baseUrl: safeAddress(baseUrl), apiKey, headers: HEADERS, ...options });
}

export function keyOf({ name, keys }: Profile, keyClass: KeyClass): string {
  const apiKey = keys[keyClass];
  if (apiKey !== undefined) return apiKey;
  throw new CommandError(`The profile “${name}” has no key of a ${keyClass}.`, {
    exitCode: EXIT.unauthorized,
    hint: `causeway login --as ${keyClass} adds one.`,
  });
}

/** A client without a key, for what is public. */
export function publicClientOf(baseUrl: string): Causeway {
  return new Causeway({ baseUrl, headers: HEADERS });
}

/** One request outside the API's description, such as a page; redirects are not followed. */
export function fetchPage(baseUrl: string, path: string, signal: AbortSignal): Promise<Response> {
  return fetch(baseUrl.replace(/\/+$/, '') + path, {
    headers: HEADERS,
    redirect: 'manual',
    signal: firstOf(AbortSignal.timeout(10_000), signal),
  });
}

/** Only a sandbox has sandbox calls: they want a key there, and are not found on a live deployment. */
export async function kindOf(baseUrl: string, signal: AbortSignal): Promise<DeploymentKind> {
  try {
    await publicClientOf(baseUrl).sandbox.clock({ signal });
    return 'sandbox';
  } catch (error) {
    if (isCausewayError(error) && error.status === 401) return 'sandbox';
    if (isCausewayError(error, 'ROUTE_NOT_FOUND')) return 'live';
    throw error;
  }
}

/** Whose key it is, and that the service accepts it: a route says which class it was made for, that class's own whether it counts. */
export async function classOf(baseUrl: string, apiKey: string, signal: AbortSignal): Promise<KeyClass> {
  const causeway = connect(baseUrl, apiKey);
  try {
    await causeway.webhooks.get({ signal });
    return 'partner';
  } catch (error) {
    const given = isCausewayError(error) ? (error.details as { given_key?: unknown }).given_key : undefined;
    if (given === 'vendor') await causeway.vendor.profile({ signal });
    else if (given === 'operator') await causeway.operator.keys.list({ limit: 1 }, { signal });
    else throw error;
    return given;
  }
}
