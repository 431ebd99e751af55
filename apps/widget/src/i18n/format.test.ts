import type { WidgetLocale } from '@causeway/protocol';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { clockTime, dateTime, decimal, money } from './format.ts';
import { chooseLocale, direction, LOCALES, locale, setLocale, t, tIfKnown } from './i18n.ts';

afterEach(() => setLocale('en'));

const LANGUAGES = Object.keys(LOCALES) as WidgetLocale[];
const isolated = (text: string) => `\u2066${text}\u2069`;

/** A decimal with up to 30 digits, 18 of them after the point; a float would hold half of them. */
const amounts = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.integer({ min: 0, max: 18 }))
  .chain(([whole, decimals]) =>
    fc
      .bigInt({ min: 0n, max: 10n ** BigInt(decimals) - 1n })
      .map((fraction) => (decimals === 0 ? `${whole}` : `${whole}.${`${fraction}`.padStart(decimals, '0')}`)),
  );

test('an amount that is formatted in English reads back as the same decimal', () => {
  fc.assert(
    fc.property(amounts, fc.constantFrom('EUR', 'KES', 'JPY', 'USDC', 'USDT'), (amount, currency) => {
      expect(money(amount, currency).replaceAll(/[^\d.]/g, '')).toBe(amount);
      expect(decimal(amount).replaceAll(',', '')).toBe(amount);
    }),
  );
});

test('no digit is lost or changed in any language, and every digit is 0 to 9', async () => {
  for (const language of LANGUAGES) {
    await setLocale(language);
    fc.assert(
      fc.property(amounts, (amount) => {
        for (const text of [money(amount, 'EUR'), money(amount, 'USDC'), decimal(amount)]) {
          expect(text.replaceAll(/\P{Nd}/gu, '')).toBe(amount.replace('.', ''));
        }
      }),
      { numRuns: 30 },
    );
  }
});

test('amounts look as the language writes them', async () => {
  const seen: Record<string, string[]> = {};
  for (const language of LANGUAGES) {
    await setLocale(language);
    seen[language] = [money('1234567.50', 'EUR'), money('12.500000', 'USDC'), decimal('0.5')].map((text) =>
      text.replaceAll(/[\u00a0\u202f]/g, ' '),
    );
  }
  expect(seen).toEqual({
    en: ['€1,234,567.50', '12.500000 USDC', '0.5'],
    fr: ['1 234 567,50 €', '12,500000 USDC', '0,5'],
    es: ['1.234.567,50 €', '12,500000 USDC', '0,5'],
    pt: ['€ 1.234.567,50', '12,500000 USDC', '0,5'],
    ar: [isolated('1,234,567.50 €'), isolated('12.500000 USDC'), isolated('0.5')],
    hi: ['€12,34,567.50', '12.500000 USDC', '0.5'],
    zh: ['€1,234,567.50', '12.500000 USDC', '0.5'],
    sw: ['€ 1,234,567.50', '12.500000 USDC', '0.5'],
  });
});

test('dollars are told from dollars', () => {
  expect([money('1.00', 'USD'), money('1.00', 'MXN')]).toEqual(['$1.00', 'MX$1.00']);
});

test('dates and times are written with the same digits', async () => {
  const iso = '2026-11-16T14:05:00Z';
  for (const language of LANGUAGES) {
    await setLocale(language);
    expect(dateTime(iso)).toMatch(/2026/);
    expect(dateTime(iso).replaceAll(/\P{Nd}/gu, '')).toMatch(/^\d+$/);
    expect(clockTime(iso)).toMatch(/\d:05/);
  }
});

test('of two languages chosen in a row the last one stays; a direction comes with it', async () => {
  await Promise.all([setLocale('ar'), setLocale('fr')]);
  expect(locale.value).toBe('fr');
  await Promise.all([setLocale('fr'), setLocale('ar')]);
  expect([locale.value, direction.value]).toEqual(['ar', 'rtl']);
  await Promise.all([setLocale('sw'), setLocale('en')]);
  expect([locale.value, direction.value]).toEqual(['en', 'ltr']);
});

test('a language is chosen by its name alone', () => {
  expect(chooseLocale(['de-AT', 'pt-PT', 'fr'])).toBe('pt');
  expect(chooseLocale(['zh_TW'])).toBe('zh');
  expect(chooseLocale(['xx', ''])).toBe('en');
});

test('words that the service chooses have a message or none', () => {
  expect(t('copy.action', { label: 'IBAN' })).toBe('Copy IBAN');
  expect(tIfKnown('no.such.key')).toBeUndefined();
  expect(tIfKnown('toString')).toBeUndefined();
});
