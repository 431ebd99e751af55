import {
  ConsoleSearchQuery,
  ConsoleSearchSchema,
  SEARCH_KINDS,
  SigningTrustQuery,
  SigningTrustSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { toChecksumAddress } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { type Database, partnerScope, type Scope, SYSTEM, vendorScope } from '../../db/database.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { route } from '../../http/route.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { BlindIndex } from '../../vault/vault.ts';
import { treasuryOf } from '../orders/escrow/escrow.ts';
import { readOrder } from '../orders/lifecycle/act-on-order.ts';
import { EMAIL_INDEX, normalisedEmail } from '../users/user.ts';
import { allPartnerIds, keysByHint, SEARCHES } from './search.store.ts';
import { consoleRoute } from './session.routes.ts';

export interface ConsoleSearchDeps {
  readonly db: Database;
  readonly blindIndex: BlindIndex;
  readonly chains: Chains;
  readonly currencies: Currencies;
}

type Found = Static<typeof ConsoleSearchSchema>['results'][number];

const MOST_FOUND = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
/** The hint of a key, or the end of one, as it is shown in lists. */
const KEY_HINT = /^(?:cw_[a-z]+_…)?[A-Za-z0-9_-]{4}$/;

export function registerConsoleSearchRoutes(app: FastifyInstance, deps: ConsoleSearchDeps): void {
  route(app, {
    ...consoleRoute('searchConsole'),
    access: 'console',
    transaction: 'none',
    summary: 'Find whatever has this id, hash, address, e-mail or reference',
    query: ConsoleSearchQuery,
    data: ConsoleSearchSchema,
    handle: async ({ query }, caller) => ({ results: await search(deps, caller, query.q.trim()) }),
  });

  route(app, {
    ...consoleRoute('getSigningTrust'),
    access: 'console',
    transaction: 'none',
    summary: 'Which contracts, tokens and wallets a signature may name',
    query: SigningTrustQuery,
    data: SigningTrustSchema,
    handle: async ({ query: { order_id } }, caller) => ({
      wallet_address: caller.kind === 'partner' ? (caller.partner.walletAddress ?? null) : null,
      chains: (await chainsOf(deps, caller, order_id)).map(({ settings, treasury }) => ({
        slug: settings.slug,
        name: deps.currencies.current().reference.catalogue.chain(settings.slug)?.name ?? settings.slug,
        chain_id: settings.chainId,
        explorer_url: settings.explorerUrl ?? null,
        service: deps.chains.service.address,
        treasury,
        contracts: { ...settings.contracts },
        tokens: settings.tokens.map(({ code, address, decimals }) => ({ code, address, decimals })),
      })),
    }),
  });
}

/** An order pays the treasury of its time, which may no longer be that of its chain. */
async function chainsOf({ db, chains }: ConsoleSearchDeps, caller: ConsolePrincipal, orderId?: string) {
  const order = orderId === undefined ? undefined : await readOrder(db, scopeOf(caller), orderId);
  return chains.all.map(({ settings }) => ({
    settings,
    treasury: treasuryOf(settings, order?.chain === settings.slug ? order.escrow : null),
  }));
}

/** In the caller’s own scope: what belongs to others is not there. */
async function search(deps: ConsoleSearchDeps, caller: ConsolePrincipal, text: string): Promise<Found[]> {
  if (text === '') return [];
  const { db } = deps;
  const address = ADDRESS.test(text) ? (toChecksumAddress(text.toLowerCase()) ?? null) : null;
  const [rows, keys] = await Promise.all([
    emailIndexesOf(deps, caller, text).then((emailIndexes) =>
      db.query(scopeOf(caller), SEARCHES[caller.kind], [
        text,
        UUID.test(text) ? text.toLowerCase() : null,
        address,
        HASH.test(text) ? text.toLowerCase() : null,
        emailIndexes,
        MOST_FOUND,
      ]),
    ),
    KEY_HINT.test(text)
      ? db.query(SYSTEM, keysByHint, [text, ownerOf(caller), caller.kind === 'operator', MOST_FOUND])
      : [],
  ]);
  const found = rows.flatMap((row): Found[] => {
    const kind = SEARCH_KINDS.find((one) => one === row.kind);
    return kind === undefined ? [] : [{ ...row, kind }];
  });
  const ofKeys = keys.map(
    ({ key_id, hint, label, kind }): Found => ({
      kind: 'key',
      id: key_id,
      matched: 'key',
      label: `${hint}${label === '' ? '' : `, ${label}`} (${kind})`,
      order_id: null,
      user_id: null,
      endpoint_id: null,
    }),
  );
  return [...found, ...ofKeys].slice(0, MOST_FOUND);
}

function scopeOf(caller: ConsolePrincipal): Scope {
  if (caller.kind === 'partner') return partnerScope(caller.partnerId);
  return caller.kind === 'vendor' ? vendorScope(caller.vendorId) : SYSTEM;
}

function ownerOf(caller: ConsolePrincipal): string | null {
  if (caller.kind === 'operator') return null;
  return caller.kind === 'partner' ? caller.partnerId : caller.vendorId;
}

/** An address is kept as a keyed hash, another one for each partner; no vendor knows one. */
async function emailIndexesOf(
  { db, blindIndex }: ConsoleSearchDeps,
  caller: ConsolePrincipal,
  text: string,
): Promise<string[]> {
  const email = normalisedEmail(text);
  if (email === undefined || caller.kind === 'vendor') return [];
  const partners =
    caller.kind === 'partner' ? [caller.partnerId] : (await db.query(SYSTEM, allPartnerIds, [])).map(idOf);
  return partners.map((partnerId) => blindIndex(EMAIL_INDEX, partnerId, email));
}

const idOf = ({ partner_id }: { readonly partner_id: string }) => partner_id;
