import { parseArgs } from 'node:util';
import {
  createEcbSource,
  createExchangeTickerSource,
  createSimulatedSource,
  type PolledSource,
} from '../rates/index.ts';

export interface CommandLine {
  readonly host: string;
  readonly port: number;
  readonly sources: readonly PolledSource[];
}

export const USAGE = `Usage: node backends/currencies/src/server.ts [options]

Serves reference data and rates to gateways that name it in CURRENCIES_URL.

  --host <address>   where it listens (127.0.0.1)
  --port <number>    0 takes any free one (8090)
  --sources <names>  simulated, ecb, kraken; comma between (simulated)
  --seed <text>      seed of the simulated market (causeway-sandbox)
  --help
`;

const SECOND_MS = 1_000;
const MAX_PORT = 65_535;

/** Undefined where the usage text was asked for. Throws an Error with a message for people. */
export function readCommandLine(args: readonly string[], clock: { now(): number }): CommandLine | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8090' },
      sources: { type: 'string', default: 'simulated' },
      seed: { type: 'string', default: 'causeway-sandbox' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= MAX_PORT)) throw new Error(`--port must be a number from 0 to ${MAX_PORT}`);
  const sources = values.sources.split(',').map((name) => sourceOf(name.trim(), values.seed, clock));
  return { host: values.host, port, sources };
}

function sourceOf(name: string, seed: string, clock: { now(): number }): PolledSource {
  switch (name) {
    case 'simulated':
      return { source: createSimulatedSource({ clock, seed }), intervalMs: 5 * SECOND_MS };
    case 'ecb':
      return { source: createEcbSource(), intervalMs: 3_600 * SECOND_MS, retryMs: 60 * SECOND_MS };
    case 'kraken':
      return { source: createExchangeTickerSource({ clock }), intervalMs: 15 * SECOND_MS };
    default:
      throw new Error(`--sources: ${JSON.stringify(name)} is none of simulated, ecb, kraken`);
  }
}
