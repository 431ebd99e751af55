/**
 * Writes backends/currencies/data/institutions/india.json from the `ifsc` package: every bank that has an IFSC prefix. The
 * package is no dependency: only its lists are wanted, and its code brings libraries that have been given up.
 *
 * `npm pack ifsc@2.0.50 && tar xzf ifsc-2.0.50.tgz && node scripts/data/indian-banks.ts package`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const target = new URL('../../backends/currencies/data/institutions/india.json', import.meta.url);
const [folder = 'package'] = process.argv.slice(2);

function readPackageFile<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
}

const MOST_COMMON_TYPE = 'cooperative-banks';
const COOPERATIVE_KINDS = new Set(['O-UCB', 'S-UCB', 'DCCB', 'SCB']);
const COOPERATIVE_NAME = /co-?op|co\.op|sahakari|nagari?k|mahila|urban/i;

function institutionTypeOf(name: string, kind: string | undefined): string {
  if (kind === 'PB') return 'digital-banks';
  if (kind !== undefined) return COOPERATIVE_KINDS.has(kind) ? MOST_COMMON_TYPE : 'traditional-banks';
  return COOPERATIVE_NAME.test(name) ? MOST_COMMON_TYPE : 'traditional-banks';
}

const names = readPackageFile<Record<string, string>>('src/banknames.json');
const banks = readPackageFile<Record<string, { type?: string }>>('src/banks.json');
const { version } = readPackageFile<{ version: string }>('package.json');

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
