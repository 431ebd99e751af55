import { formatFixed } from '@causeway/protocol';
import type { EarningRow, EarningSumRow } from './desk.store.ts';

/** What a vendor got and gave, as decimal text. On-ramp it sells crypto for fiat; off-ramp it buys. */
export interface Earning {
  readonly asset: string;
  readonly received: string;
  readonly paid: string;
}

type Figures = Omit<EarningSumRow, 'orders'>;

interface Movement {
  readonly asset: string;
  readonly decimals: number;
  readonly received: bigint;
  readonly paid: bigint;
}

/** The escrow pays a buyer what is left after the platform's fee; a seller gives all of it. */
function movementsOf(row: Figures): readonly [crypto: Movement, fiat: Movement] {
  const crypto = BigInt(row.crypto_amount);
  const fiat = BigInt(row.fiat_amount);
  const isSale = row.direction === 'onramp';
  return [
    {
      asset: `${row.crypto_currency}@${row.chain}`,
      decimals: row.crypto_decimals,
      received: isSale ? 0n : crypto - BigInt(row.platform_fee),
      paid: isSale ? crypto : 0n,
    },
    {
      asset: row.fiat_currency,
      decimals: row.fiat_decimals,
      received: isSale ? fiat : 0n,
      paid: isSale ? 0n : fiat,
    },
  ];
}

const written = ({ asset, decimals, received, paid }: Movement): Earning => ({
  asset,
  received: formatFixed(received, decimals),
  paid: formatFixed(paid, decimals),
});

export function earningView(row: EarningRow) {
  const [crypto, fiat] = movementsOf(row);
  return {
    order_id: row.order_id,
    direction: row.direction,
    crypto: written(crypto),
    fiat: written(fiat),
    rate: row.rate,
    tx_hash: row.tx_hash,
    settled_at: row.settled_at.toISOString(),
  };
}

/** One line an asset. Token decimals differ between chains, and so do the assets; a currency has one number of them. */
export function totalsOf(rows: readonly Figures[]): Earning[] {
  const totals = new Map<string, Movement>();
  for (const movement of rows.flatMap(movementsOf)) {
    const before = totals.get(movement.asset);
    totals.set(movement.asset, {
      ...movement,
      received: movement.received + (before?.received ?? 0n),
      paid: movement.paid + (before?.paid ?? 0n),
    });
  }
  return [...totals.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1)).map(written);
}

/** By pair, as traders count. */
export function pairLines(rows: readonly EarningSumRow[]) {
  return rows.map((row) => {
    const [crypto, fiat] = movementsOf(row);
    return {
      direction: row.direction,
      chain: row.chain,
      crypto_currency: row.crypto_currency,
      fiat_currency: row.fiat_currency,
      orders: Number(row.orders),
      crypto_amount: formatFixed(crypto.received + crypto.paid, row.crypto_decimals),
      fiat_amount: formatFixed(fiat.received + fiat.paid, row.fiat_decimals),
    };
  });
}
