import { buildCatalogue, loadReferenceFiles } from '@causeway/currencies';
import { OfferBook } from '@causeway/offers';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { CurrenciesSnapshot } from '../../ports/currencies.ts';
import { RateTable } from '../../upstream/rates/rate-table.ts';
import { createCorridorAnswer } from './corridor-answer.ts';

const AT = Date.UTC(2026, 0, 31, 12);
const reference = { version: '1', catalogue: buildCatalogue(loadReferenceFiles()) };

function ratesAt(asOf: number): RateTable {
  const legs = [['USDC', 'USD', '1'] as const, ['USD', 'EUR', '0.9'] as const].map(([base, quote, rate]) => ({
    ...{ base, quote, rate, asOf },
    ...{ sources: ['test'], status: 'fresh' as const },
  }));
  return new RateTable({ publishedAt: asOf, legs });
}

describe('the answer with all corridors', () => {
  let snapshot: CurrenciesSnapshot;
  let isUnavailable = false;
  let changed = () => {};
  let reading: ReturnType<typeof createCorridorAnswer>;

  beforeEach(() => {
    isUnavailable = false;
    snapshot = { reference, rates: ratesAt(AT), ageSeconds: 0 };
    const reactions: (() => void)[] = [];
    changed = () => {
      for (const react of reactions) react();
    };
    const onChange = (react: () => void) => void reactions.push(react);
    reading = createCorridorAnswer({
      currencies: { current: () => snapshot, onChange, start: async () => {}, stop: async () => {} },
      offers: {
        book: () => {
          if (isUnavailable) throw new Error('there is no book');
          return OfferBook.empty;
        },
        onChange,
      },
    });
  });

  /** When the market of the first corridor was observed, as it is answered now. */
  function observedAt(): number {
    const { body } = reading().answer.variant('identity');
    const { corridors } = JSON.parse(body.toString()).data;
    const [row] = corridors.filter(
      (one: { crypto_currency: string; fiat_currency: string }) =>
        one.crypto_currency === 'USDC' && one.fiat_currency === 'EUR',
    );
    return Date.parse(row.updated_at);
  }

  function publish(asOf: number): void {
    snapshot = { ...snapshot, rates: ratesAt(asOf) };
    changed();
  }

  test('while new rates are priced is the one before, and then the new one', async () => {
    expect(observedAt()).toBe(AT);
    publish(AT + 5_000);
    expect(observedAt()).toBe(AT);
    await vi.waitFor(() => expect(observedAt()).toBe(AT + 5_000));
  });

  test('follows rates that change while others are priced', async () => {
    observedAt();
    publish(AT + 5_000);
    observedAt();
    publish(AT + 10_000);
    await vi.waitFor(() => expect(observedAt()).toBe(AT + 10_000));
  });

  test('after a quiet while is never the old one', async () => {
    observedAt();
    publish(AT + 5_000);
    for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate);
    publish(AT + 10_000);
    expect(observedAt()).toBe(AT + 10_000);
  });

  test('that cannot be priced says so to whoever asks, and is priced when it can be again', async () => {
    observedAt();
    isUnavailable = true;
    publish(AT + 5_000);
    await vi.waitFor(() => expect(observedAt).toThrow('there is no book'));
    isUnavailable = false;
    expect(observedAt()).toBe(AT + 5_000);
  });
});
