import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DESKS, type Desk } from '@causeway/protocol/console';
import { Causeway } from '@causeway/sdk';
import type { Browser, Page } from 'playwright-core';
import { buildConsole, sizesOf } from '../apps/console/build.ts';
import { seriousFindings } from '../test/harness/axe.ts';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../test/harness/browser.ts';
import { addressOf, consoleScreens, settled } from '../test/harness/console-screens.ts';
import { composed } from '../test/harness/pictures.ts';
import { type ConsoleSubjects, furnish } from './demo/console-subjects.ts';
import { type DemoSandbox, startSandbox } from './demo/running-sandbox.ts';

/**
 * npm run console:screenshots [-- --only partner]
 *
 * Opens every page of the console in a sandbox of its own, with orders and cases in it, and writes a picture of each to
 * docs/images/console: light and dark, side by side. docs/guides/console-screens.md shows them. axe looks at each, at tablet
 * width too; bench/reports/console.json keeps what it found and what a browser loads. Fails where axe finds something serious,
 * or a page complains.
 */
const FOLDER = join(import.meta.dirname, '../docs/images/console');
const PAGE = join(import.meta.dirname, '../docs/guides/console-screens.md');
const REPORT = join(import.meta.dirname, '../bench/reports/console.json');
const SIZE = { width: 1280, height: 860 };
const TABLET = { width: 820, height: 1100 };
const THEMES = ['light', 'dark'] as const;
/** All of them together stay below 4 MB. */
const SMALLER = { scale: 0.5, quality: 0.6 };

const endings: (() => Promise<void>)[] = [];
const findings: string[] = [];
const complaints: string[] = [];
let looked = 0;

interface Shown {
  readonly desk: Desk | 'account';
  readonly title: string;
  readonly file: string;
}

async function take(page: Page, studio: Page, shown: Shown): Promise<void> {
  const pictures: Buffer[] = [];
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    for (const size of [TABLET, SIZE]) {
      await page.setViewportSize(size);
      const found = await seriousFindings(page);
      findings.push(...found.map((one) => `${shown.file} ${size.width} ${colorScheme}: ${one}`));
      const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (isWider) complaints.push(`${shown.file} ${size.width}: wider than the screen`);
      looked += 1;
    }
    pictures.push(await page.screenshot({ animations: 'disabled' }));
  }
  await writeFile(join(FOLDER, shown.file), await composed(studio, pictures, SMALLER));
}

async function walkDesk(
  browser: Browser,
  sandbox: DemoSandbox,
  desk: Desk,
  subjects: ConsoleSubjects,
): Promise<Shown[]> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', bypassCSP: true });
  const page = await context.newPage();
  const root = `${sandbox.base_url}/console`;
  page.on('pageerror', ({ message }) => complaints.push(`${page.url()}: ${message}`));
  const studio = await context.newPage();
  await page.bringToFront();
  const shown: Shown[] = [];
  const show = async (at: Shown) => {
    process.stdout.write(`${at.file}\n`);
    await settled(page);
    // A stream of events stays open, so that a quiet network is never reached.
    await page.waitForTimeout(400);
    if ((await page.getByTestId('problem').count()) > 0) complaints.push(`${at.file}: shows a problem`);
    await take(page, studio, at);
    shown.push(at);
  };
  await page.goto(`${root}/sign-in`);
  if (desk === DESKS[0]) await show({ desk: 'account', title: 'Sign in', file: 'account-00-sign-in.webp' });
  await page.getByTestId(`enter-${desk}`).first().click();
  await page.getByTestId('desk').waitFor();
  const own = consoleScreens().filter((one) => one.desk === desk);
  const pages = [...own, { path: 'account', title: 'Your account' }];
  for (const [index, { path, title }] of pages.entries()) {
    if (path === 'account' && desk !== DESKS[0]) continue;
    await page.goto(`${root}/${desk}/${addressOf(path, { ...subjects })}`);
    const number = String(index + 1).padStart(2, '0');
    const name = title.toLowerCase().replaceAll(/\W+/g, '-');
    await show({ desk, title, file: `${desk}-${number}-${name}.webp` });
  }
  await context.close();
  return shown;
}

const TITLES = {
  account: 'Sign-in',
  partner: 'Partner desk',
  operator: 'Operator desk',
  vendor: 'Vendor desk',
} as const;

async function writePage(all: readonly Shown[]): Promise<void> {
  const lines = [
    '# Screens of the console',
    '',
    'Every page, light and dark. `npm run console:screenshots` takes them anew from a running sandbox.',
  ];
  for (const [desk, title] of Object.entries(TITLES)) {
    lines.push('', `## ${title}`);
    for (const { title: page, file } of all.filter((one) => one.desk === desk)) {
      lines.push('', `### ${title}: ${page}`, '', `![${page}, light and dark](../images/console/${file})`);
    }
  }
  await writeFile(PAGE, `${lines.join('\n')}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const found = findBrowser(thisMachine());
  if (found === undefined) throw new Error(NO_BROWSER);
  const desks = DESKS.filter((desk) => values.only === undefined || values.only === desk);
  if (desks.length === 0) throw new Error(`--only takes one of ${DESKS.join(', ')}`);
  await mkdir(FOLDER, { recursive: true });
  if (values.only === undefined) {
    for (const file of await readdir(FOLDER)) await rm(join(FOLDER, file));
  }
  const { sandbox } = await startSandbox(endings);
  const browser = await launchBrowser(found);
  endings.push(() => browser.close());
  const partner = new Causeway({ baseUrl: sandbox.base_url, apiKey: sandbox.partners[0]?.api_key ?? '' });
  const operator = new Causeway({ baseUrl: sandbox.base_url, apiKey: sandbox.operator_key });
  const vendors = sandbox.vendors.map(
    ({ api_key: apiKey }) => new Causeway({ baseUrl: sandbox.base_url, apiKey }),
  );
  const subjects = await furnish(partner, operator, vendors);
  const shown: Shown[] = [];
  for (const desk of desks) shown.push(...(await walkDesk(browser, sandbox, desk, subjects)));
  if (values.only === undefined) {
    await writePage(shown);
    const sizes = sizesOf(await buildConsole());
    const report = {
      pages: shown.length,
      screens: looked,
      seriousFindings: findings.length,
      gzipBytes: sizes,
    };
    await writeFile(REPORT, `${JSON.stringify(report, null, 2)}\n`);
  }
  const files = await readdir(FOLDER);
  const bytes = await Promise.all(files.map(async (file) => (await stat(join(FOLDER, file))).size));
  const kilobytes = Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1_000);
  process.stdout.write(`${files.length} pictures, ${kilobytes} kB\n`);
  process.stdout.write(
    `axe looked at ${looked} screens: ${findings.length} serious findings\n${[...findings, ...complaints].map((one) => `${one}\n`).join('')}`,
  );
  if (findings.length + complaints.length > 0) process.exitCode = 1;
}

try {
  await main();
} finally {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}
