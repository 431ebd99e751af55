/**
 * Writes backends/currencies/data/institutions/india.json from the `ifsc` package: every bank that has an IFSC
 * prefix. Run it again after raising the package's version: `node scripts/data/indian-banks.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const target = new URL('../../backends/currencies/data/institutions/india.json', import.meta.url);
// The package belongs to the currencies backend, so it is resolved from there.
const resolve = createRequire(new URL('../../backends/currencies/package.json', import.meta.url)).resolve;

function readPackageFile<T>(name: string): T {
  return JSON.parse(readFileSync(resolve(`ifsc/src/${name}`), 'utf8')) as T;
}

const MOST_COMMON_TYPE = 'cooperative-banks';
const COOPERATIVE_KINDS = new Set(['O-UCB', 'S-UCB', 'DCCB', 'SCB']);
const COOPERATIVE_NAME = /co-?op|co\.op|sahakari|nagari?k|mahila|urban/i;

function institutionTypeOf(name: string, kind: string | undefined): string {
  if (kind === 'PB') return 'digital-banks';
  if (kind !== undefined) return COOPERATIVE_KINDS.has(kind) ? MOST_COMMON_TYPE : 'traditional-banks';
  return COOPERATIVE_NAME.test(name) ? MOST_COMMON_TYPE : 'traditional-banks';
}

const names = readPackageFile<Record<string, string>>('banknames.json');
const banks = readPackageFile<Record<string, { type?: string }>>('banks.json');
const { version } = readPackageFile<{ version: string }>('../package.json');

const lines = Object.keys(names)
  .sort()
  .map((code) => {
    const name = (names[code] ?? '').trim().replace(/\s+/g, ' ');
    const institutionType = institutionTypeOf(name, banks[code]?.type);
    const entry = {
      slug: `in-${code.toLowerCase()}`,
      name,
      code,
      // Most are co-operative banks: leaving the default out keeps one bank on one line.
      ...(institutionType === MOST_COMMON_TYPE ? {} : { institutionType }),
    };
    return `    { ${JSON.stringify(entry).slice(1, -1).replaceAll('":"', '": "').replaceAll('","', '", "')} }`;
  });

const head = {
  source: `Bank names and four-letter IFSC prefixes from the ifsc package ${version} (MIT), which follows the lists of NPCI and the Reserve Bank of India.`,
  defaults: {
    directoryOnly: true,
    institutionType: MOST_COMMON_TYPE,
    countries: ['IN'],
    supportedRails: ['imps-neft-india'],
  },
};
const headText = JSON.stringify(head, null, 2).slice(0, -2);
writeFileSync(target, `${headText},\n  "institutions": [\n${lines.join(',\n')}\n  ]\n}\n`);
process.stdout.write(`${lines.length} banks\n`);
