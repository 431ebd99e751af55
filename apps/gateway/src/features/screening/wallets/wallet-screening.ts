import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { ExchangeFailedError, exchangeJson } from '../../../chain/rpc/json-exchange.ts';
import { type WalletScreeningPort, WalletScreeningUnavailable } from '../../../ports/wallet-screening.ts';
import { SanctionsListError } from '../names/sanctions-list.ts';

/**
 * A commercial screening behind HTTP, of the kind Chainalysis, Elliptic and TRM have; a few lines of proxy bring one of
 * them into this shape.
 *
 *   POST {url}/wallets { "address": "0x…" } → { "status": "clear" | "review" | "blocked", "categories": [text], "version"?: text }
 *
 * Nothing that comes back is used before it has the right shape, and whatever is not an answer is not `clear`.
 */
export interface HttpWalletScreeningSettings {
  readonly url: string;
  readonly accessToken?: string | undefined;
  readonly timeoutMs?: number;
}

const Answer = Type.Object({
  status: Type.Union([Type.Literal('clear'), Type.Literal('review'), Type.Literal('blocked')]),
  categories: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 }),
  version: Type.Optional(Type.String({ maxLength: 100 })),
});

const DEFAULT_TIMEOUT_MS = 5_000;

export function httpWalletScreening(settings: HttpWalletScreeningSettings): WalletScreeningPort {
  const { url, accessToken, timeoutMs = DEFAULT_TIMEOUT_MS } = settings;
  return {
    async screen(address) {
      const answer = await exchangeJson({
        url: `${url}/wallets`,
        method: 'POST',
        accessToken,
        timeoutMs,
        body: { address },
      }).catch((error: unknown) => {
        if (!(error instanceof ExchangeFailedError)) throw error;
        throw new WalletScreeningUnavailable(`the wallet screening ${error.message}`);
      });
      if (!Value.Check(Answer, answer)) {
        throw new WalletScreeningUnavailable('the wallet screening answered in an unknown shape');
      }
      const { status, categories, version = 'unversioned' } = answer;
      return { status, listed: categories, listVersion: version };
    },
  };
}

/** A few addresses of the SDN list, for deployments that have no list of their own yet. */
export const SHIPPED_ADDRESSES = fileURLToPath(new URL('./sanctioned-addresses.json', import.meta.url));

const EVM_ADDRESS = /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g;
const ADDRESS_LENGTH = 42;

/**
 * Every EVM address that the given files name. It needs no format: in an SDN list (sdn.xml, sdn.csv), an OpenSanctions
 * export or a plain list, what looks like an address is one. `addresses` has to have some; a list of names may have none.
 */
export async function loadListedWallets(files: {
  readonly addresses: string;
  readonly names?: string | undefined;
}): Promise<WalletScreeningPort> {
  const digest = createHash('sha256');
  const listed = new Map<string, string[]>();
  const { addresses, names } = files;
  await readAddresses(addresses, digest, listed);
  // An empty list would clear every wallet.
  if (listed.size === 0) throw new SanctionsListError('the list of addresses has none');
  if (names !== undefined) await readAddresses(names, digest, listed);
  const listVersion = digest.digest('hex').slice(0, 16);
  return {
    async screen(address) {
      const lists = listed.get(address.toLowerCase()) ?? [];
      return { status: lists.length > 0 ? 'blocked' : 'clear', listed: lists, listVersion };
    },
  };
}

async function readAddresses(
  path: string,
  digest: ReturnType<typeof createHash>,
  listed: Map<string, string[]>,
): Promise<void> {
  const list = basename(path);
  let rest = '';
  const take = (text: string, isLast: boolean) => {
    for (const { 0: address, index } of text.matchAll(EVM_ADDRESS)) {
      // At the very edge it may be the beginning of something longer, a transaction hash say.
      if (!isLast && index + ADDRESS_LENGTH === text.length) continue;
      const lists = listed.get(address.toLowerCase()) ?? [];
      if (!lists.includes(list)) listed.set(address.toLowerCase(), [...lists, list]);
    }
  };
  for await (const chunk of createReadStream(path)) {
    digest.update(chunk as Buffer);
    // Addresses are ASCII, so the bytes of one are never part of another character.
    const text = rest + (chunk as Buffer).toString('latin1');
    take(text, false);
    rest = text.slice(-ADDRESS_LENGTH);
  }
  take(rest, true);
}
