import {
  type Decimal,
  type DecimalRefusal,
  formatFixed,
  formatShortest,
  parseDecimal,
  parseSignedDecimal,
  powerOfTen,
} from './decimal.ts';
import { accept, type Result, refuse } from './result.ts';

/** What is counted: a token with its chain's decimals, or a fiat currency with its ISO 4217 minor units. */
export interface Asset {
  readonly code: string;
  readonly decimals: number;
}

/** Exact money: whole atomic units of one asset. */
export interface Amount {
  readonly atomic: bigint;
  readonly asset: Asset;
}

export type AmountRefusal =
  | DecimalRefusal
  /** More decimals written than the asset has. Counted as written: `1.000` is refused for a two-decimal asset. */
  | 'excess_precision'
  /** Zero where something has to move. */
  | 'not_positive';

/** Reads an amount of zero or above. */
export function parseAmount(
  text: unknown,
  asset: Asset,
): Result<Amount, Exclude<AmountRefusal, 'not_positive'>> {
  const decimal = parseDecimal(text);
  return decimal.ok ? toAmount(decimal.value, asset) : decimal;
}

/** Reads an amount above zero: what a customer pays, deposits or receives. */
export function parsePositiveAmount(text: unknown, asset: Asset): Result<Amount, AmountRefusal> {
  const amount = parseAmount(text, asset);
  if (amount.ok && amount.value.atomic === 0n) return refuse('not_positive');
  return amount;
}

/** Reads an amount that may be below zero: ledger differences and corrections. */
export function parseSignedAmount(
  text: unknown,
  asset: Asset,
): Result<Amount, Exclude<AmountRefusal, 'not_positive' | 'negative'>> {
  const decimal = parseSignedDecimal(text);
  return decimal.ok ? toAmount(decimal.value, asset) : decimal;
}

/** The asset's own decimals, always all of them: `0.000000` USDC, `5` JPY, `1.250` KWD. */
export function formatAmount(amount: Amount): string {
  return formatFixed(amount.atomic, amount.asset.decimals);
}

/** The shortest round-tripping form, as webhooks write `partner_fee`: `1`, `0`, `0.5`. */
export function formatAmountShortest(amount: Amount): string {
  return formatShortest(amount.atomic, amount.asset.decimals);
}

export function addAmounts(left: Amount, right: Amount): Amount {
  requireSameAsset(left, right);
  return { atomic: left.atomic + right.atomic, asset: left.asset };
}

/** May go below zero; what that means is the caller's to decide. */
export function subtractAmounts(left: Amount, right: Amount): Amount {
  requireSameAsset(left, right);
  return { atomic: left.atomic - right.atomic, asset: left.asset };
}

/** Negative, zero or positive, as a sort comparator answers. */
export function compareAmounts(left: Amount, right: Amount): -1 | 0 | 1 {
  requireSameAsset(left, right);
  if (left.atomic === right.atomic) return 0;
  return left.atomic < right.atomic ? -1 : 1;
}

function toAmount(decimal: Decimal, asset: Asset): Result<Amount, 'excess_precision'> {
  if (decimal.scale > asset.decimals) return refuse('excess_precision');
  return accept({ atomic: decimal.unscaled * powerOfTen(asset.decimals - decimal.scale), asset });
}

// The same token code has 6 decimals on one chain and 18 on another: adding those would be off by a factor of 10^12.
function requireSameAsset(left: Amount, right: Amount): void {
  if (left.asset.code !== right.asset.code || left.asset.decimals !== right.asset.decimals) {
    throw new TypeError(
      `amounts of different assets: ${left.asset.code}/${left.asset.decimals} and ${right.asset.code}/${right.asset.decimals}`,
    );
  }
}
