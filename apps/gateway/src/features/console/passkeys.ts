import { isIP } from 'node:net';
import { CausewayError } from '@causeway/protocol';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyRequest } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import { endConsoleSessionsOfUser } from '../../http/console-session.store.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { isLoopbackHost } from '../../http/docs/sandbox-keys.ts';
import { scopeOf } from '../../http/route-runs.ts';
import {
  deletePasskey as deletePasskeyRow,
  findPasskey,
  insertPasskey,
  listPasskeys,
  renamePasskey as renamePasskeyRow,
  usePasskey,
} from './challenge.store.ts';
import { type ConsoleUserRow, findConsoleUser } from './console-user.store.ts';
import {
  openChallenge,
  ownRow,
  type Proof,
  reauthenticate,
  type SecondFactorDeps,
  takeStep,
} from './second-factor.ts';

/** Passkeys (WebAuthn). Each is discoverable and verifies its user, so that it stands for both factors, without an address. */
export interface PasskeyDeps extends SecondFactorDeps {
  readonly baseUrl: string;
  readonly sandbox: boolean;
}

/** Read when it is asked for: some 250 modules that most processes never need. */
const webAuthn = () => import('@simplewebauthn/server');

const RP_NAME = 'Causeway';
const MOST_PASSKEYS = 20;
/** EdDSA, ES256 and RS256: every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257];

interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * What a passkey is bound to: the name in the public address. A sandbox is also reached as localhost; browsers bind no passkey
 * to an address of numbers, so by that there is none.
 */
export function relyingParty(
  { baseUrl, sandbox }: PasskeyDeps,
  request: FastifyRequest,
): RelyingParty | null {
  const { host } = request.headers;
  const url = new URL(sandbox && isLoopbackHost(host) ? `http://${host}` : baseUrl);
  const name = url.hostname.replaceAll(/[[\]]/g, '');
  return isIP(name) === 0 ? { id: name, origin: url.origin } : null;
}

function requireRelyingParty(deps: PasskeyDeps, request: FastifyRequest): RelyingParty {
  const party = relyingParty(deps, request);
  if (party !== null) return party;
  throw new CausewayError('PASSKEY_INVALID', {
    message: 'Passkeys need a name, not an address of numbers. Open the console at localhost.',
  });
}

export async function beginPasskey(
  deps: PasskeyDeps,
  caller: ConsolePrincipal,
  request: FastifyRequest,
  proof: Proof,
) {
  const party = requireRelyingParty(deps, request);
  const user = await ownRow(deps, caller);
  await reauthenticate(deps, caller, user, proof);
  const known = await deps.db.query(scopeOf(caller), listPasskeys, [user.user_id]);
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: RP_NAME,
    rpID: party.id,
    userID: handleOf(user.user_id),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map(({ passkey_id, transports }) => ({ id: passkey_id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const opened = await openChallenge(deps, 'passkey_registration', {
    userId: user.user_id,
    challenge: options.challenge,
  });
  return { ...opened, options: { ...options } };
}

/** The first second factor of a user ends sessions that were begun without one. */
export async function addPasskey(
  deps: PasskeyDeps,
  caller: ConsolePrincipal,
  request: FastifyRequest,
  given: { readonly token: string; readonly label: string; readonly response: object },
) {
  const party = requireRelyingParty(deps, request);
  const user = await ownRow(deps, caller);
  const step = await takeStep(deps, 'passkey_registration', given.token);
  if (step.user_id !== user.user_id) throw new CausewayError('SIGN_IN_STEP_EXPIRED');
  const known = await deps.db.query(scopeOf(caller), listPasskeys, [user.user_id]);
  if (known.length >= MOST_PASSKEYS) {
    throw new CausewayError('PASSKEY_INVALID', {
      message: `An account has at most ${MOST_PASSKEYS} passkeys. Remove one first.`,
    });
  }
  const { verifyRegistrationResponse } = await webAuthn();
  const verified = await verifyRegistrationResponse({
    response: given.response as unknown as RegistrationResponseJSON,
    expectedChallenge: step.challenge ?? '',
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch((cause: unknown) => {
    throw new CausewayError('PASSKEY_INVALID', { cause });
  });
  if (!verified.verified) throw new CausewayError('PASSKEY_INVALID');
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const at = new Date(deps.wall());
  await deps.db.transaction(scopeOf(caller), async (tx) => {
    const [added] = await tx.query(insertPasskey, [
      ...([id, user.user_id, user.partner_id, user.vendor_id] as const),
      ...([Buffer.from(publicKey), counter, transports.slice(0, 10), given.label, at] as const),
    ]);
    if (added === undefined) throw new CausewayError('PASSKEY_INVALID');
    if (user.totp_confirmed_at === null && known.length === 0) {
      tx.defer(endConsoleSessionsOfUser, [user.user_id, caller.user.sessionId, 'revoked', at]);
    }
  });
  return { passkey_id: id, label: given.label, created_at: at.toISOString(), last_used_at: null };
}

export async function beginPasskeySignIn(deps: PasskeyDeps, request: FastifyRequest) {
  const party = requireRelyingParty(deps, request);
  const { generateAuthenticationOptions } = await webAuthn();
  const options = await generateAuthenticationOptions({ rpID: party.id, userVerification: 'required' });
  const opened = await openChallenge(deps, 'passkey_sign_in', { challenge: options.challenge });
  return { ...opened, options: { ...options } };
}

/** The user whose passkey it is; null where it is not accepted. */
export async function verifyPasskey(
  deps: PasskeyDeps,
  request: FastifyRequest,
  given: { readonly token: string; readonly response: object },
): Promise<ConsoleUserRow | null> {
  const party = requireRelyingParty(deps, request);
  const step = await takeStep(deps, 'passkey_sign_in', given.token);
  const response = given.response as unknown as AuthenticationResponseJSON;
  if (typeof response.id !== 'string') return null;
  const [passkey] = await deps.db.query(SYSTEM, findPasskey, [response.id]);
  if (passkey === undefined) return null;
  const { verifyAuthenticationResponse } = await webAuthn();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: step.challenge ?? '',
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.passkey_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.sign_count),
    },
  }).catch(() => null);
  if (verified?.verified !== true) return null;
  const handle = response.response.userHandle;
  const isOwners = handle === undefined || Buffer.from(handle, 'base64url').equals(handleOf(passkey.user_id));
  if (!isOwners) return null;
  const counted = [
    passkey.passkey_id,
    verified.authenticationInfo.newCounter,
    new Date(deps.wall()),
  ] as const;
  const [used] = await deps.db.query(SYSTEM, usePasskey, counted);
  if (used === undefined) return null;
  const [user] = await deps.db.query(SYSTEM, findConsoleUser, [passkey.user_id]);
  return user ?? null;
}

export async function renamePasskey(
  { db }: PasskeyDeps,
  caller: ConsolePrincipal,
  passkeyId: string,
  label: string,
): Promise<void> {
  const [done] = await db.query(scopeOf(caller), renamePasskeyRow, [passkeyId, caller.user.userId, label]);
  if (done === undefined) throw new CausewayError('PASSKEY_NOT_FOUND');
}

export async function deletePasskey(
  deps: PasskeyDeps,
  caller: ConsolePrincipal,
  passkeyId: string,
): Promise<void> {
  const user = await ownRow(deps, caller);
  const known = await deps.db.query(scopeOf(caller), listPasskeys, [user.user_id]);
  if (!known.some(({ passkey_id }) => passkey_id === passkeyId)) throw new CausewayError('PASSKEY_NOT_FOUND');
  if (deps.requireSecondFactor && user.totp_confirmed_at === null && known.length === 1) {
    throw new CausewayError('LAST_SECOND_FACTOR');
  }
  const [done] = await deps.db.query(scopeOf(caller), deletePasskeyRow, [passkeyId, user.user_id]);
  if (done === undefined) throw new CausewayError('PASSKEY_NOT_FOUND');
}

/** What an authenticator keeps of its user: the id, and nothing that says who it is. */
function handleOf(userId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex'));
}
