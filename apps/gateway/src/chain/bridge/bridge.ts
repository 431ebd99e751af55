import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { getAddress } from 'viem';
import type { Address, Hex } from '../chain-settings.ts';
import { ExchangeFailedError, exchangeJson, type JsonExchange } from '../rpc/json-exchange.ts';

/**
 * The way to other chains: a bridge quotes, is paid by the router with the quote's id, and pays out on the other side.
 * Whether it has is its word, asked for again until it is final.
 */
export interface BridgePort {
  /** Throws `BridgeRefusedError` where it does not serve the requested. */
  quote(requested: BridgeRequest): Promise<BridgeQuote>;
  track(quoteId: Hex): Promise<BridgeProgress>;
}

export interface BridgeRequest {
  readonly fromChainId: number;
  readonly toChainId: number;
  /** On the chain it comes from. */
  readonly token: Address;
  readonly amount: bigint;
  /** The account that pays the deposit, and gets it back if the bridge cannot do it. */
  readonly sender: Address;
  readonly recipient: Address;
}

export interface BridgeQuote {
  readonly quoteId: Hex;
  /** Where the deposit goes. */
  readonly solver: Address;
  /** What arrives, in atomic units of the token on the other chain. */
  readonly toAmount: bigint;
  readonly expiresAt: Date;
}

export type BridgeProgress =
  | { readonly state: 'pending' }
  | { readonly state: 'settled'; readonly txHash: Hex; readonly toAmount: bigint }
  /** It will not be paid out any more, and the depositor has the deposit back. */
  | { readonly state: 'failed'; readonly reason: string };

export class BridgeRefusedError extends Error {
  override readonly name = 'BridgeRefusedError';
}

/** The bridge does not answer, or not with an answer: nothing is known. */
export class BridgeUnavailableError extends Error {
  override readonly name = 'BridgeUnavailableError';
}

/**
 * A bridge behind an HTTP API of the kind Across and Relay have: ask for a quote, deposit with its id, poll its status.
 *
 *   POST {url}/quotes       → { quote_id, deposit_address, output_amount, expires_at }
 *   GET  {url}/quotes/{id}  → { status: pending | filled | refunded | expired, fill_tx_hash?, output_amount? }
 *
 * Nothing that comes back is used before it has the right shape.
 */
export interface HttpBridgeSettings {
  readonly url: string;
  readonly accessToken?: string;
  readonly timeoutMs?: number;
}

const Bytes32 = Type.Unsafe<Hex>(Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }));
const Atomic = Type.String({ pattern: '^[1-9][0-9]{0,77}$' });

const QuoteAnswer = Type.Object({
  quote_id: Bytes32,
  deposit_address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  output_amount: Atomic,
  expires_at: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$' }),
});

const StatusAnswer = Type.Union([
  Type.Object({ status: Type.Union([Type.Literal('pending'), Type.Literal('deposited')]) }),
  Type.Object({ status: Type.Literal('filled'), fill_tx_hash: Bytes32, output_amount: Atomic }),
  Type.Object({ status: Type.Union([Type.Literal('refunded'), Type.Literal('expired')]) }),
]);

const DEFAULT_TIMEOUT_MS = 8_000;

export function httpBridge(settings: HttpBridgeSettings): BridgePort {
  const { url, accessToken, timeoutMs = DEFAULT_TIMEOUT_MS } = settings;

  async function ask<S extends TSchema>(
    schema: S,
    question: Pick<JsonExchange, 'url' | 'method' | 'body'>,
  ): Promise<Static<S>> {
    let answer: unknown;
    try {
      answer = await exchangeJson({ ...question, accessToken, timeoutMs });
    } catch (error) {
      if (!(error instanceof ExchangeFailedError)) throw error;
      const isRefused = error.status === 400 || error.status === 404 || error.status === 422;
      const Failure = isRefused ? BridgeRefusedError : BridgeUnavailableError;
      throw new Failure(`the bridge ${error.message}`);
    }
    if (Value.Check(schema, answer)) return answer;
    throw new BridgeUnavailableError('the bridge answered in an unknown shape');
  }

  return {
    async quote(requested) {
      const answer = await ask(QuoteAnswer, {
        url: `${url}/quotes`,
        method: 'POST',
        body: {
          origin_chain_id: requested.fromChainId,
          destination_chain_id: requested.toChainId,
          input_token: requested.token,
          input_amount: `${requested.amount}`,
          depositor: requested.sender,
          recipient: requested.recipient,
        },
      });
      return {
        quoteId: answer.quote_id.toLowerCase() as Hex,
        solver: getAddress(answer.deposit_address),
        toAmount: BigInt(answer.output_amount),
        expiresAt: new Date(answer.expires_at),
      };
    },

    async track(quoteId) {
      const answer = await ask(StatusAnswer, { url: `${url}/quotes/${quoteId}`, method: 'GET' });
      switch (answer.status) {
        case 'filled':
          return {
            state: 'settled',
            txHash: answer.fill_tx_hash.toLowerCase() as Hex,
            toAmount: BigInt(answer.output_amount),
          };
        case 'refunded':
          return { state: 'failed', reason: answer.status };
        // Expired is not yet given back: the payer waits for the refund.
        default:
          return { state: 'pending' };
      }
    },
  };
}
