import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

// Without these Chromium asks for updates and lists of its own at every start, which a closed network refuses noisily.
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A real browser that comes with npm: nothing is installed on the machine. */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args, '--no-sandbox', ...QUIET],
    headless: true,
  });
}
