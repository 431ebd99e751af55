import { randomUUID } from 'node:crypto';
import type { Desk, Role } from '@causeway/protocol/console';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { insertConsoleSession } from '../../apps/gateway/src/http/console-session.store.ts';
import { newSessionToken } from '../../apps/gateway/src/http/console-sessions.ts';
import type { Answer, CallOptions, TestGateway } from './gateway.ts';

/** Somebody who is signed in to the console, and calls as a page does: with the cookie and the token. */
export interface ConsoleCaller {
  readonly userId: string;
  readonly email: string;
  readonly desk: Desk;
  readonly role: Role;
  /** What the browser would send; `x-csrf-token` is what a page adds. */
  readonly headers: Readonly<{ cookie: string; 'x-csrf-token': string }>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The same person in another browser. */
  again(): Promise<ConsoleCaller>;
}

const SESSION_MS = 3_600_000;

const insertUser = statement<
  [userId: string, partnerId: string | null, vendorId: string | null, email: string, role: Role]
>(
  'test.insert_console_user',
  `INSERT INTO console_users (user_id, partner_id, vendor_id, email, name, role, created_at)
   VALUES ($1, $2, $3, $4, 'Somebody of a test', $5, now())`,
);

/** Which partner or vendor of the sandbox: the first unless it says. */
export async function ownerOf(gateway: TestGateway, desk: Desk, index = 0): Promise<string | null> {
  if (desk === 'operator') return null;
  const { partners, sandbox } = gateway;
  const key = desk === 'partner' ? partners[index]?.apiKey : sandbox.vendors[index]?.apiKey;
  const principal = await gateway.deps.principals.find(key ?? '');
  if (principal?.kind === 'partner') return principal.partnerId;
  if (principal?.kind === 'vendor') return principal.vendorId;
  throw new Error(`the sandbox has no ${desk} ${index}`);
}

/** Written as the service would: a test of what users may do need not wait for passwords to be hashed. */
export async function consoleUser(
  gateway: TestGateway,
  desk: Desk,
  role: Role,
  options: { readonly owner?: number; readonly email?: string } = {},
): Promise<ConsoleCaller> {
  const userId = randomUUID();
  const email = options.email ?? `${role}-${userId}@console.example`;
  const owner = await ownerOf(gateway, desk, options.owner);
  await gateway.deps.db.query(SYSTEM, insertUser, [
    userId,
    desk === 'partner' ? owner : null,
    desk === 'vendor' ? owner : null,
    email,
    role,
  ]);

  async function signedIn(): Promise<ConsoleCaller> {
    const { token, familyHash, tokenHash } = newSessionToken();
    const [sessionId, csrf, at] = [randomUUID(), newSessionToken().token, new Date()];
    const ends = new Date(at.getTime() + SESSION_MS);
    const partnerId = desk === 'partner' ? owner : null;
    const vendorId = desk === 'vendor' ? owner : null;
    const from = ['password', null, 'a test', at, ends] as const;
    await gateway.deps.db.query(SYSTEM, insertConsoleSession, [
      sessionId,
      userId,
      partnerId,
      vendorId,
      familyHash,
      tokenHash,
      csrf,
      ...from,
    ]);
    const headers = { cookie: `cw_console=${token}`, 'x-csrf-token': csrf };
    return {
      userId,
      email,
      desk,
      role,
      headers,
      call: (method, path, given = {}) =>
        gateway.call(method, path, { key: null, ...given, headers: { ...headers, ...given.headers } }),
      again: signedIn,
    };
  }
  return signedIn();
}
