import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { loadReferenceFiles } from './reference-files.ts';

const data = loadReferenceFiles();
const allFields = data.rails.flatMap((rail) => [
  ...(rail.fields ?? []).map((field) => ({ rail: rail.slug, field })),
  ...(rail.formats ?? []).flatMap((format) => format.fields.map((field) => ({ rail: rail.slug, field }))),
]);

function isValidIban(iban: string): boolean {
  const digits = [...`${iban.slice(4)}${iban.slice(0, 4)}`].map((char) => Number.parseInt(char, 36)).join('');
  return BigInt(digits) % 97n === 1n;
}

function weightedSum(digits: string, modulo = Number.MAX_SAFE_INTEGER): number {
  return [...digits].reduce(
    (sum, digit, at) => sum + ((Number(digit) * ([3, 7, 1][at % 3] ?? 0)) % modulo),
    0,
  );
}

/** Placeholders are copied into first requests, so they have to pass the check digits too. */
const checkDigits: Record<string, (value: string) => boolean> = {
  iban: isValidIban,
  nrb: (value) => isValidIban(`PL${value}`),
  aba_routing: (value) => weightedSum(value) % 10 === 0,
  clabe: (value) => (weightedSum(value.slice(0, 17), 10) + Number(value[17])) % 10 === 0,
};

describe('the reference data that comes with the code', () => {
  it('covers at least 40 currencies, 60 countries, 35 rails and 2,500 institutions', () => {
    expect(data.fiatCurrencies.length).toBeGreaterThanOrEqual(40);
    expect(data.countries.length).toBeGreaterThanOrEqual(60);
    expect(data.rails.length).toBeGreaterThanOrEqual(35);
    expect(data.institutions.length).toBeGreaterThan(2_500);
  });

  it('lists the 1,510 banks of the ifsc package for India, each with a four-letter code of its own', () => {
    const indian = data.institutions.filter((one) => one.supportedRails.includes('imps-neft-india'));
    const codes = indian.filter((one) => one.directoryOnly).map((one) => one.code ?? '');
    expect(codes).toHaveLength(1_510);
    expect(new Set(codes).size).toBe(1_510);
    expect(codes.filter((code) => !/^[A-Z0-9]{4}$/.test(code))).toEqual([]);
    expect(codes).toEqual(expect.arrayContaining(['SBIN', 'HDFC', 'ICIC', 'UTIB', 'PUNB']));
  });

  it('writes every token address with its EIP-55 checksum', () => {
    for (const { address } of data.chains.flatMap((chain) => chain.tokens)) {
      expect(getAddress(address.toLowerCase())).toBe(address);
    }
  });

  it('gives USDC and USDT 18 decimals on BNB Chain and 6 elsewhere', () => {
    for (const chain of data.chains) {
      for (const token of chain.tokens) {
        expect(token.decimals, `${token.code} on ${chain.slug}`).toBe(chain.slug === 'bnb-mainnet' ? 18 : 6);
      }
    }
  });

  // Proves C2.3.
  it('has the chains the contract names, with differing token coverage', () => {
    const slugs = data.chains.map((chain) => chain.slug);
    expect(slugs).toEqual(
      expect.arrayContaining([
        'ethereum-mainnet',
        'base-mainnet',
        'arbitrum-one',
        'polygon-mainnet',
        'optimism-mainnet',
        'bnb-mainnet',
      ]),
    );
    const coverage = new Set(data.chains.map((chain) => chain.tokens.map((token) => token.code).join()));
    expect(coverage.size).toBeGreaterThan(2);
  });

  it('uses the minor units of ISO 4217', () => {
    const units = Object.fromEntries(data.fiatCurrencies.map((one) => [one.code, one.minorUnits]));
    expect(units).toMatchObject({ JPY: 0, KRW: 0, VND: 0, XOF: 0, UGX: 0, USD: 2, HUF: 2, KWD: 3, TND: 3 });
    for (const { code, minorUnits } of data.fiatCurrencies) {
      const digits = new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions();
      // CLDR shows some currencies without their cents; it never shows more digits than ISO has.
      expect(digits.maximumFractionDigits, code).toBeLessThanOrEqual(minorUnits);
    }
  });

  it('gives every currency at least one rail', () => {
    const paid = new Set(data.rails.flatMap((rail) => rail.currencies));
    expect(data.fiatCurrencies.filter(({ code }) => !paid.has(code))).toEqual([]);
  });

  it('writes limits with no more decimals than the currency has', () => {
    for (const rail of data.rails) {
      const units = data.fiatCurrencies.find(({ code }) => code === rail.currencies[0])?.minorUnits ?? 0;
      for (const amount of Object.values(rail.limits ?? {})) {
        if (amount !== null) expect((amount.split('.')[1] ?? '').length, rail.slug).toBe(units);
      }
    }
  });

  it('has placeholders that satisfy their own pattern and length cap', () => {
    for (const { rail, field } of allFields) {
      if (field.type === 'select') {
        expect(
          field.options?.map(({ code }) => code),
          rail,
        ).toContain(field.placeholder);
        continue;
      }
      const { pattern, placeholder } = field;
      expect(pattern !== undefined && placeholder !== undefined, `${rail}.${field.key}`).toBe(true);
      expect(placeholder, `${rail}.${field.key}`).toMatch(new RegExp(pattern ?? '', 'u'));
      expect([...(placeholder ?? '')].length).toBeLessThanOrEqual(field.maxLength);
    }
  });

  it('has placeholders with right check digits', () => {
    const checked = allFields.filter(({ field }) => (field.format ?? '') in checkDigits);
    expect(checked.length).toBeGreaterThan(20);
    for (const { rail, field } of checked) {
      expect(checkDigits[field.format ?? '']?.(field.placeholder ?? ''), `${rail}.${field.key}`).toBe(true);
    }
  });

  it('gives American banks routing numbers with a right check digit', () => {
    const banks = data.institutions.filter((one) => one.supportedRails.includes('wire-us') && one.code);
    expect(banks.length).toBeGreaterThan(20);
    for (const { code, slug } of banks) expect(weightedSum(code ?? '') % 10, slug).toBe(0);
  });

  // Proves trap 30.
  it('has patterns that answer at once to hostile text of the longest accepted length', () => {
    const seeds = ['a', 'A', '0', '-', ' ', '@', '.', 'a.', 'a@', '0-', '+2', 'ア', '\u0000', 'A0', 'a@a.'];
    for (const { rail, field } of allFields) {
      if (field.pattern === undefined) continue;
      const pattern = new RegExp(field.pattern, 'u');
      const hostile = seeds.flatMap((seed) => {
        const text = seed.repeat(field.maxLength).slice(0, field.maxLength);
        return [text, `${text.slice(1)}!`, `${field.placeholder?.slice(0, 2) ?? ''}${text}`, `a@${text}!`];
      });
      const started = performance.now();
      for (const text of hostile) pattern.test(text);
      expect((performance.now() - started) / hostile.length, `${rail}.${field.key}`).toBeLessThan(100);
    }
  });

  it('keeps some institutions that are not live, as the world does', () => {
    expect(data.institutions.filter((one) => one.live === false).length).toBeGreaterThan(10);
    expect(data.institutions.some((one) => (one.suspendedRails ?? []).length > 0)).toBe(true);
  });

  it('gives SEPA banks a BIC of their own country', () => {
    const banks = data.institutions.filter(
      (one) => one.supportedRails.includes('iban-sepa') && one.code !== undefined,
    );
    expect(banks.length).toBeGreaterThan(400);
    for (const bank of banks) {
      expect(bank.code, bank.slug).toMatch(/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/);
      expect(bank.code?.slice(4, 6), bank.slug).toBe(bank.countries[0]);
    }
  });

  it('has a live institution for every rail that requires one', () => {
    for (const rail of data.rails.filter(({ institutionRequired }) => institutionRequired)) {
      const live = data.institutions.filter(
        (one) => one.live !== false && one.supportedRails.includes(rail.slug),
      );
      expect(live.length, rail.slug).toBeGreaterThan(0);
    }
  });
});
