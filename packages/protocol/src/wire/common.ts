import { Type } from 'typebox';

/** Building blocks of every wire schema. */

export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  examples: ['0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
});

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC',
  examples: ['2026-11-15T10:00:00.000Z'],
});

export const DecimalString = Type.String({
  description: 'A decimal number as text; parse it as a decimal, never as a float',
  examples: ['100.00'],
});

/**
 * An amount as a request carries it. Only its length is limited here; digits and precision are judged against the
 * currency, so that the error can say which of them is wrong.
 */
export const AmountInput = Type.String({ maxLength: 80, examples: ['100.00'] });

export const PercentInput = Type.Union([Type.String({ maxLength: 40 }), Type.Number()], {
  description: 'Percent, at most 6 decimals; "1" means 1 %',
  examples: ['1'],
});

export const CurrencyCodeInput = Type.String({ minLength: 1, maxLength: 10, examples: ['EUR'] });

export const SlugInput = Type.String({ minLength: 1, maxLength: 100 });

export const CountryCodeInput = Type.String({ pattern: '^[A-Za-z]{2}$', examples: ['DE'] });

export const EvmAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });

/** One of these words; JSON Schema's `enum`, so that an error can list what is allowed. */
export function literals<const Values extends readonly string[]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
}
