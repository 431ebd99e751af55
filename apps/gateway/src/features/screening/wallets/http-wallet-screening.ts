import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { ExchangeFailedError, exchangeJson } from '../../../chain/json-exchange.ts';
import { type WalletScreeningPort, WalletScreeningUnavailable } from './wallet-screening.port.ts';

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
