import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Causeway } from '@causeway/sdk';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../test/harness/axe.ts';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../test/harness/browser.ts';
import { composed } from '../test/harness/pictures.ts';
import { hosted } from '../test/harness/widget-driver.ts';
import {
  simulate,
  type Walk,
  walkDispute,
  walkOfframp,
  walkOnramp,
  walkRefund,
  withoutPrograms,
} from '../test/harness/widget-walk.ts';
import { injectWallet } from '../test/harness/widget-wallet.ts';
import { type DemoSandbox, startSandbox } from './demo/running-sandbox.ts';

/**
 * npm run widget:screenshots [-- --only offramp | --only page]
 *
 * Walks through the widget in a sandbox of its own and writes a picture of every screen in three languages to
 * docs/images/widget: 320 pixels and desktop, light and dark, side by side. docs/guides/widget-screens.md shows them. axe looks
 * at each of them too; the command fails where it finds something serious.
 */
const FOLDER = join(import.meta.dirname, '../docs/images/widget');
const PAGE = join(import.meta.dirname, '../docs/guides/widget-screens.md');
const LANGUAGES = { en: 'English', ar: 'Arabic', hi: 'Hindi' } as const;
const SIZES = [
  { width: 320, height: 640 },
  { width: 560, height: 640 },
] as const;
const THEMES = ['light', 'dark'] as const;
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
/** Together they stay below 4 MB. */
const SMALLER = { scale: 0.7, quality: 0.55 };
const endings: (() => Promise<void>)[] = [];
const findings: string[] = [];
let looked = 0;

function photographer(page: Page, studio: Page, part: string): Walk['look'] {
  let number = 0;
  return async (name) => {
    number += 1;
    for (const language of Object.keys(LANGUAGES)) {
      await page.getByTestId('language').selectOption(language);
      await page.locator(`html[lang="${language}"]`).waitFor();
      const pictures: Buffer[] = [];
      for (const size of SIZES) {
        await page.setViewportSize(size);
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme });
          pictures.push(await page.locator('.widget').screenshot({ animations: 'disabled' }));
          const found = await seriousFindings(page);
          findings.push(
            ...found.map((one) => `${part} ${name} ${language} ${size.width} ${colorScheme}: ${one}`),
          );
          looked += 1;
        }
      }
      const file = `${part}-${String(number).padStart(2, '0')}-${name}-${language}.webp`;
      await writeFile(join(FOLDER, file), await composed(studio, pictures, SMALLER));
    }
    await page.getByTestId('language').selectOption('en');
  };
}

interface Studio {
  readonly browser: Browser;
  readonly sandbox: DemoSandbox;
  readonly sdk: Causeway;
}

async function open({ browser, sandbox, sdk }: Studio, part: string, side: 'onramp' | 'offramp') {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', bypassCSP: true });
  const [chain] = sandbox.chains;
  if (chain === undefined) throw new Error('this sandbox has no chain');
  const wallet = await injectWallet(context, { chainId: chain.chain_id, rpcUrl: chain.rpc_url });
  const page = await context.newPage();
  const key = sandbox.partners[0]?.widget_key ?? '';
  const settings = { key, side, fiatCurrency: 'EUR', country: 'DE', amount: '100.00' };
  await page.goto(`${sandbox.base_url}/widget/checkout?${new URLSearchParams(settings)}`);
  const studio = await context.newPage();
  await page.bringToFront();
  const email = `${part}@example.com`;
  const walk: Walk = { sdk, widget: hosted(page), email, look: photographer(page, studio, part) };
  return { walk, wallet, close: () => context.close() };
}

async function verified({ sdk }: Studio, part: string): Promise<void> {
  const { id } = await sdk.users.create({
    email: `${part}@example.com`,
    first_name: 'Ada',
    last_name: 'Lovelace',
  });
  await sdk.sandbox.kycStatus(id, { status: 'VERIFIED' });
}

async function fund({ sdk, sandbox }: Studio, address: string): Promise<void> {
  const chain = sandbox.chains[0]?.slug ?? '';
  await sdk.sandbox.faucet({ chain, token: 'USDC', address, amount: '1000' });
  await sdk.sandbox.faucet({ chain, token: 'native', address, amount: '1' });
}

const PARTS: Readonly<Record<string, (studio: Studio) => Promise<void>>> = {
  async onramp(studio) {
    const { walk, close } = await open(studio, 'onramp', 'onramp');
    await walkOnramp(walk, WALLET);
    await close();
  },
  async offramp(studio) {
    await verified(studio, 'offramp');
    const { walk, wallet, close } = await open(studio, 'offramp', 'offramp');
    await fund(studio, wallet.address);
    await walkOfframp(walk, wallet);
    await close();
  },
  async refund(studio) {
    await verified(studio, 'refund');
    const { walk, wallet, close } = await open(studio, 'refund', 'offramp');
    await fund(studio, wallet.address);
    await walkRefund(walk, wallet);
    await close();
  },
  async dispute(studio) {
    await verified(studio, 'dispute');
    const { walk, close } = await open(studio, 'dispute', 'onramp');
    await walkDispute(walk, WALLET);
    await close();
  },
};

const TITLES: Readonly<Record<string, string>> = {
  onramp: 'Buying',
  offramp: 'Selling',
  refund: 'A sale that stops',
  dispute: 'A payment that did not arrive',
};

/** The page that shows the pictures, from what is in the folder. */
async function writePage(): Promise<void> {
  const files = (await readdir(FOLDER)).sort();
  const lines = [
    '# Screens of the widget',
    '',
    'Every screen in three languages. Each picture shows it four times: at 320 pixels light and dark, and on a desktop light and dark. `npm run widget:screenshots` takes them anew from a running sandbox.',
  ];
  for (const [part, title] of Object.entries(TITLES)) {
    lines.push('', `## ${title}`);
    for (const file of files.filter((name) => name.startsWith(`${part}-`) && name.endsWith('-en.webp'))) {
      const [, name = ''] = /^[a-z]+-\d+-(.+)-en\.webp$/.exec(file) ?? [];
      lines.push('', `### ${title}: ${name}`);
      for (const [language, said] of Object.entries(LANGUAGES)) {
        lines.push('', `![${name}, ${said}](../images/widget/${file.replace('-en.', `-${language}.`)})`);
      }
    }
  }
  await writeFile(PAGE, `${lines.join('\n')}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const found = findBrowser(thisMachine());
  if (found === undefined) throw new Error(NO_BROWSER);
  const parts = Object.entries(PARTS).filter(([name]) => values.only === undefined || values.only === name);
  if (values.only === 'page') return writePage();
  if (parts.length === 0) throw new Error(`--only takes one of ${Object.keys(PARTS).join(', ')}, page`);
  await mkdir(FOLDER, { recursive: true });
  for (const file of await readdir(FOLDER)) {
    if (parts.some(([name]) => file.startsWith(`${name}-`))) await rm(join(FOLDER, file));
  }
  const { sandbox } = await startSandbox(endings);
  const browser = await launchBrowser(found);
  endings.push(() => browser.close());
  const sdk = new Causeway({ baseUrl: sandbox.base_url, apiKey: sandbox.partners[0]?.api_key ?? '' });
  await simulate({ sdk }, false);
  await withoutPrograms(new Causeway({ baseUrl: sandbox.base_url, apiKey: sandbox.operator_key }));
  for (const [name, take] of parts) {
    process.stdout.write(`${name}\n`);
    await take({ browser, sandbox, sdk });
  }
  await writePage();
  const files = await readdir(FOLDER);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(FOLDER, file))).size));
  const kilobytes = Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1_000);
  process.stdout.write(`${files.length} pictures, ${kilobytes} kB\n`);
  process.stdout.write(
    `axe looked at ${looked} screens: ${findings.length} serious findings\n${findings.map((one) => `${one}\n`).join('')}`,
  );
  if (findings.length > 0) process.exitCode = 1;
}

try {
  await main();
} finally {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}
