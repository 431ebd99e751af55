import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DIRECTIONS, OfferBook } from './book/index.ts';
import { sandboxOffers } from './sandbox/sandbox-offers.ts';
import { parseWireRows } from './wire/index.ts';

export interface CommandLine {
  readonly host: string;
  readonly port: number;
  /** Where reservations are kept over a restart. */
  readonly reservationsFile?: string;
  /** Reads the files anew. */
  readonly load: () => OfferBook;
}

export const USAGE = `Usage: node backends/offers/src/server.ts (--rows <file> | --catalogue <file>) [options]

Serves vendors' offers to gateways.

  --rows <file>       vendors and offers as JSON, in the form of GET /snapshot; SIGHUP reads it again
  --catalogue <file>  makes a sandbox market for these currencies and rails (JSON) instead
  --seed <text>       seed of that market (causeway-sandbox)
  --reservations <file>
                      keeps what is reserved over a restart; without it a restart loses it
  --host <address>    where it listens (127.0.0.1)
  --port <number>     0 takes any free one (8091)
  --help
`;

const MAX_PORT = 65_535;
const Codes = Type.Array(Type.String({ minLength: 1 }));
const Summary = Type.Object({
  cryptoCurrencies: Codes,
  fiatCurrencies: Type.Array(
    Type.Object({
      code: Type.String({ minLength: 1 }),
      minorUnits: Type.Integer({ minimum: 0, maximum: 4 }),
      perUsd: Type.String(),
    }),
  ),
  rails: Type.Array(
    Type.Object({
      slug: Type.String({ minLength: 1 }),
      currencies: Codes,
      countries: Codes,
      directions: Type.Array(Type.Enum([...DIRECTIONS])),
      methods: Codes,
    }),
  ),
});
const summaryFile = Compile(Summary);

/** Undefined where the usage text was asked for. Throws an Error with a message for people. */
export function readCommandLine(args: readonly string[]): CommandLine | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string' },
      catalogue: { type: 'string' },
      reservations: { type: 'string' },
      seed: { type: 'string', default: 'causeway-sandbox' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8091' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= MAX_PORT)) throw new Error(`--port must be a number from 0 to ${MAX_PORT}`);
  const { rows, catalogue, seed, host } = values;
  const kept = values.reservations === undefined ? {} : { reservationsFile: values.reservations };
  if (rows !== undefined && catalogue === undefined) {
    return { host, port, ...kept, load: () => OfferBook.of(parseWireRows(readJson(rows))) };
  }
  if (catalogue !== undefined && rows === undefined) {
    return { host, port, ...kept, load: () => OfferBook.of(sandboxOffers(readSummary(catalogue), seed)) };
  }
  throw new Error('exactly one of --rows and --catalogue is needed; --help tells more');
}

function readSummary(file: string): Static<typeof Summary> {
  const summary = readJson(file);
  if (!summaryFile.Check(summary)) throw new Error(`${file} is not a summary of a catalogue`);
  return summary;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
