import {
  type Asset,
  formatPercent,
  type PartnerWidgetSessionInput,
  parsePercent,
  WHOLE_IN_MILLIONTHS,
  type WidgetSessionInput,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { toChecksumAddress } from '../../chain/chain-settings.ts';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import type { Catalogue } from '../../ports/currencies.ts';
import { cryptoOf, fiatOf, knownCountry, readAmount } from '../quotes/pricing.ts';

type PageInput = Static<typeof WidgetSessionInput>;
type ServerInput = Static<typeof PartnerWidgetSessionInput>;

/** What a session begins with, as it is kept and shown: every value read and in its one spelling. */
export type SessionStart = PageInput & Pick<ServerInput, 'color_scheme' | 'redirect_url'>;

export interface StartContext {
  readonly catalogue: Catalogue;
  /** Of the partner’s settlement chain. */
  readonly tokens: readonly Asset[];
  readonly sandbox: boolean;
}

/** Reads the same fields as a quote does, with the same refusals; all of them may be absent. */
export function readStart(input: PageInput, { catalogue, tokens }: StartContext): SessionStart {
  const crypto = input.crypto_currency === undefined ? undefined : cryptoOf(input.crypto_currency, tokens);
  const fiat = input.fiat_currency === undefined ? undefined : fiatOf(input.fiat_currency, catalogue);
  readAmounts(input, crypto, fiat);
  const country = knownCountry(input.country_code, catalogue);
  return {
    ...(input.side === undefined ? {} : { side: input.side }),
    ...(fiat === undefined ? {} : { fiat_currency: fiat.code }),
    ...(crypto === undefined ? {} : { crypto_currency: crypto.code }),
    ...(input.fiat_amount === undefined ? {} : { fiat_amount: input.fiat_amount }),
    ...(input.crypto_amount === undefined ? {} : { crypto_amount: input.crypto_amount }),
    ...(country === undefined ? {} : { country_code: country }),
    ...(input.wallet_address === undefined ? {} : { wallet_address: readWallet(input.wallet_address) }),
    ...(input.reference_id === undefined ? {} : { reference_id: input.reference_id }),
    ...(input.locale === undefined ? {} : { locale: input.locale }),
  };
}

/** An amount means something in a currency only. */
function readAmounts(input: PageInput, crypto: Asset | undefined, fiat: Asset | undefined): void {
  const { fiat_amount: fiatAmount, crypto_amount: cryptoAmount } = input;
  if (fiatAmount !== undefined && cryptoAmount !== undefined) {
    const message = 'give at most one of fiat_amount and crypto_amount';
    throw invalidFields([
      { path: 'fiat_amount', message },
      { path: 'crypto_amount', message },
    ]);
  }
  if (fiatAmount !== undefined) {
    if (fiat === undefined) throw invalidRequest('fiat_amount', 'needs fiat_currency');
    readAmount('fiat_amount', fiatAmount, fiat);
  }
  if (cryptoAmount !== undefined) {
    if (crypto === undefined) throw invalidRequest('crypto_amount', 'needs crypto_currency');
    readAmount('crypto_amount', cryptoAmount, crypto);
  }
}

function readWallet(text: string): string {
  const address = toChecksumAddress(text);
  if (address === undefined) {
    throw invalidRequest('wallet_address', 'is not an EVM address with a right EIP-55 checksum');
  }
  return address;
}

export interface ServerStart {
  readonly start: SessionStart;
  readonly locked: boolean;
  /** Decimal text. */
  readonly partnerFeePct: string | null;
}

/** What the partner’s own server may say beyond what a page may. */
export function readServerStart(input: ServerInput, context: StartContext): ServerStart {
  const { color_scheme: colorScheme, redirect_url: redirectUrl } = input;
  return {
    start: {
      ...readStart(input, context),
      ...(colorScheme === undefined ? {} : { color_scheme: colorScheme }),
      ...(redirectUrl === undefined ? {} : { redirect_url: readRedirect(redirectUrl, context.sandbox) }),
    },
    locked: input.locked ?? true,
    partnerFeePct: input.partner_fee_pct === undefined ? null : readPartnerFee(input.partner_fee_pct),
  };
}

function readPartnerFee(value: string | number): string {
  const parsed = parsePercent(value);
  if (!parsed.ok) throw invalidRequest('partner_fee_pct', `is not a valid percentage (${parsed.reason})`);
  if (parsed.value.millionths >= WHOLE_IN_MILLIONTHS)
    throw invalidRequest('partner_fee_pct', 'must be below 100');
  return formatPercent(parsed.value);
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The hosted page leads there when it is done: an address of the web, and nothing that runs as a script. */
export function readRedirect(text: string, sandbox: boolean): string {
  if (!URL.canParse(text)) throw invalidRequest('redirect_url', 'is not an absolute address');
  const url = new URL(text);
  const isLocal = sandbox && url.protocol === 'http:' && LOOPBACK.includes(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) {
    throw invalidRequest('redirect_url', 'must begin with https:// (in a sandbox http://localhost will do)');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidRequest('redirect_url', 'must not carry a user or password');
  }
  return url.href;
}
