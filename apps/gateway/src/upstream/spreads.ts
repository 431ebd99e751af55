import { readFileSync } from 'node:fs';
import { type Percent, parsePercent, WHOLE_IN_MILLIONTHS } from '@causeway/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ReferenceRecord, SPREADS_KIND } from './reference-records.ts';

/** What a customer pays around the market rate, by fiat currency. A setting until offers decide it. */
export interface Spread {
  readonly onramp: Percent;
  readonly offramp: Percent;
}

const SpreadRecord = Type.Object(
  {
    currency: Type.String({ pattern: '^([A-Z]{3}|default)$' }),
    onrampPct: Type.String(),
    offrampPct: Type.String(),
  },
  { additionalProperties: false },
);
const spreadRecord = Compile(SpreadRecord);
const spreadsFile = Compile(
  Type.Object({ source: Type.String({ minLength: 1 }), spreads: Type.Array(SpreadRecord, { minItems: 1 }) }),
);

const FILE = new URL('./spreads.json', import.meta.url);
const ALL_CURRENCIES = 'default';

export class SpreadTable {
  readonly #byCurrency = new Map<string, Spread>();

  /** Throws a RangeError that names the record at fault. */
  constructor(records: readonly ReferenceRecord[]) {
    for (const { kind, id, data } of records) {
      if (kind === SPREADS_KIND) this.#byCurrency.set(id, spreadOf(id, data));
    }
    if (!this.#byCurrency.has(ALL_CURRENCIES)) throw new RangeError('spreads: there is no default');
  }

  of(fiatCurrency: string): Spread {
    const spread = this.#byCurrency.get(fiatCurrency) ?? this.#byCurrency.get(ALL_CURRENCIES);
    if (spread === undefined) throw new RangeError('spreads: there is no default');
    return spread;
  }
}

function spreadOf(id: string, data: unknown): Spread {
  if (!spreadRecord.Check(data)) {
    throw new RangeError(`spreads/${id}: needs currency, onrampPct and offrampPct as text`);
  }
  const { onrampPct, offrampPct }: Static<typeof SpreadRecord> = data;
  return { onramp: percentOf(id, 'onrampPct', onrampPct), offramp: percentOf(id, 'offrampPct', offrampPct) };
}

function percentOf(id: string, field: string, text: string): Percent {
  const percent = parsePercent(text);
  if (!percent.ok || percent.value.millionths >= WHOLE_IN_MILLIONTHS) {
    throw new RangeError(
      `spreads/${id}: ${field} must be a decimal from 0 to below 100 with at most 6 decimals`,
    );
  }
  return percent.value;
}

/** The spreads that come with the code. */
export function loadSpreadRecords(): ReferenceRecord[] {
  const file: unknown = JSON.parse(readFileSync(FILE, 'utf8'));
  if (!spreadsFile.Check(file)) throw new RangeError('spreads.json does not have the expected form');
  return file.spreads.map((data) => ({ kind: SPREADS_KIND, id: data.currency, data }));
}
