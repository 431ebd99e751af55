import {
  type Asset,
  formatAmount,
  formatPercent,
  formatRate,
  type OfframpPrice,
  type OnrampPrice,
  type Percent,
  type PriceRefusal,
  type PriceTerms,
  parsePercent,
  parsePositiveAmount,
  parseRate,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
  type Rate,
  type Result,
} from '../packages/protocol/src/money/index.ts';
import { measureOps } from './frame/measure-ops.ts';
import type { BenchReport } from './frame/report.ts';

/** Money maths has to stay far below the cost of the request around it. */
const QUOTES_PER_SECOND = 1_000_000;
const SECONDS = 2;
// A power of two, so that picking an input costs one mask; large enough that no branch is learnt by heart.
const INPUTS = 4096;

type Anchor = 'fiat' | 'crypto';

interface PricingCase {
  readonly name: string;
  readonly anchor: Anchor;
  readonly price: (anchor: bigint, terms: PriceTerms) => Result<OnrampPrice | OfframpPrice, PriceRefusal>;
}

const CASES: readonly PricingCase[] = [
  { name: 'on-ramp, fiat-anchored', anchor: 'fiat', price: priceOnrampFiatAnchored },
  { name: 'on-ramp, crypto-anchored', anchor: 'crypto', price: priceOnrampCryptoAnchored },
  { name: 'off-ramp, fiat-anchored', anchor: 'fiat', price: priceOfframpFiatAnchored },
  { name: 'off-ramp, crypto-anchored', anchor: 'crypto', price: priceOfframpCryptoAnchored },
];

const CORRIDORS = [
  { fiat: { code: 'EUR', decimals: 2 }, rate: '0.921347' },
  { fiat: { code: 'NGN', decimals: 2 }, rate: '1583.25' },
  { fiat: { code: 'INR', decimals: 2 }, rate: '84.1275' },
  { fiat: { code: 'JPY', decimals: 0 }, rate: '151.382' },
  { fiat: { code: 'KWD', decimals: 3 }, rate: '0.307125' },
];
const PLATFORM_FEES = ['0.5', '0.75', '1'];
const PARTNER_FEES = ['0', '0.25', '1', '1.5', '2.375'];

/** One request as a partner sends it, with what the server already holds in memory: rate, assets, platform fee. */
interface QuoteInput {
  readonly pricing: PricingCase;
  readonly crypto: Asset;
  readonly fiat: Asset;
  readonly rate: Rate;
  readonly platformFee: Percent;
  readonly partnerFee: Percent;
  readonly anchorAtomic: bigint;
  readonly terms: PriceTerms;
  readonly amountText: string;
  readonly partnerFeeText: string;
}

export function run(report: BenchReport): void {
  for (const decimals of [6, 18]) {
    const inputs = quoteInputs({ code: 'USDC', decimals });
    const label = `${decimals} decimals`;
    for (const pricing of CASES) {
      const own = inputs.filter((input) => input.pricing === pricing);
      report.add(
        measureOps({ name: `${pricing.name}, ${label}`, seconds: SECONDS, run: pick(own, priceOnly) }),
      );
    }
    report.add(
      measureOps({
        name: `mix of the four, terms and price, ${label}`,
        seconds: SECONDS,
        run: pick(inputs, termsAndPrice),
        ...(decimals === 6 && { target: QUOTES_PER_SECOND }),
      }),
    );
    report.add(
      measureOps({
        name: `mix, from text to text, ${label}`,
        seconds: SECONDS,
        run: pick(inputs, textToText),
      }),
    );
  }
}

function pick<Answer>(inputs: readonly QuoteInput[], operation: (input: QuoteInput) => Answer) {
  const mask = inputs.length - 1;
  if (inputs.length === 0 || (inputs.length & mask) !== 0)
    throw new RangeError('inputs must be a power of two');
  return (index: number): Answer => operation(inputs[index & mask] as QuoteInput);
}

function priceOnly({ pricing, anchorAtomic, terms }: QuoteInput) {
  return pricing.price(anchorAtomic, terms);
}

function termsAndPrice(input: QuoteInput) {
  return input.pricing.price(input.anchorAtomic, priceTerms(input));
}

/** All that a quote's figures go through between the request's JSON and the answer's. */
function textToText(input: QuoteInput) {
  const { pricing, crypto, fiat, rate, platformFee } = input;
  const amount = must(parsePositiveAmount(input.amountText, pricing.anchor === 'fiat' ? fiat : crypto));
  const partnerFee = must(parsePercent(input.partnerFeeText));
  const terms = priceTerms({ rate, crypto, fiat, platformFee, partnerFee });
  const price = must(pricing.price(amount.atomic, terms));
  return {
    rate: formatRate(rate),
    partnerFeePct: formatPercent(partnerFee),
    cryptoAmount: formatAmount({ atomic: price.cryptoAmount, asset: crypto }),
    fiatAmount: formatAmount({ atomic: price.fiatAmount, asset: fiat }),
    platformFee: formatAmount({ atomic: price.platformFee, asset: crypto }),
    partnerFee: formatAmount({ atomic: price.partnerFee, asset: crypto }),
    totalFee: formatAmount({ atomic: price.totalFee, asset: crypto }),
  };
}

function quoteInputs(crypto: Asset): QuoteInput[] {
  return Array.from({ length: INPUTS }, (_, index) => {
    const pricing = at(CASES, index);
    const corridor = at(CORRIDORS, index >> 2);
    const rate = must(parseRate(corridor.rate));
    const platformFee = must(parsePercent(at(PLATFORM_FEES, index >> 3)));
    const partnerFee = must(parsePercent(at(PARTNER_FEES, index >> 4)));
    const terms = priceTerms({ rate, crypto, fiat: corridor.fiat, platformFee, partnerFee });
    const anchorAsset = pricing.anchor === 'fiat' ? corridor.fiat : crypto;
    const anchorAtomic = anchorAmount(index, anchorAsset);
    // A refusal ends early and would flatter the figure.
    must(pricing.price(anchorAtomic, terms));
    return {
      pricing,
      crypto,
      fiat: corridor.fiat,
      rate,
      platformFee,
      partnerFee,
      anchorAtomic,
      terms,
      amountText: formatAmount({ atomic: anchorAtomic, asset: anchorAsset }),
      partnerFeeText: formatPercent(partnerFee),
    };
  });
}

/** 500 to about 50,000 units, with every decimal in use. */
function anchorAmount(index: number, asset: Asset): bigint {
  const one = 10n ** BigInt(asset.decimals);
  const scattered = (BigInt(index + 1) * 2_654_435_761n) % 49_500n;
  const fraction = (BigInt(index + 1) * 987_654_321_987_654_321n) % one;
  return (500n + scattered) * one + fraction;
}

function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}

function must<Value>(result: Result<Value, string>): Value {
  if (!result.ok) throw new Error(`an input of the bench was refused: ${result.reason}`);
  return result.value;
}
