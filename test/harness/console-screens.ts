import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DESKS, type Desk } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';

/** A page of a desk; its address may have parameters: `orders/$orderId`. */
export interface ConsoleScreen {
  readonly desk: Desk;
  readonly path: string;
  readonly title: string;
}

/** Every page, as the menus’ tables have them; read as text, because the pages behind them are for a browser. */
export function consoleScreens(): readonly ConsoleScreen[] {
  return DESKS.flatMap((desk) => {
    const file = join(import.meta.dirname, `../../apps/console/src/desks/${desk}/pages.ts`);
    const found = [...readFileSync(file, 'utf8').matchAll(/path: '([^']+)',\s+title: '([^']+)'/g)];
    if (found.length === 0) throw new Error(`the ${desk} desk has no pages`);
    return found.map(([, path = '', title = '']) => ({ desk, path, title }));
  });
}

/** Addresses with a parameter lead to something that was made before. */
export function addressOf(path: string, subjects: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = subjects[name];
    if (value === undefined) throw new Error(`no subject for $${name} in ${path}`);
    return value;
  });
}

/** Nothing says any more that it loads. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // The first of them: when it is gone another one may be the first.
  const loading = page.locator('[role="status"][aria-label="Loading"]').first();
  await loading.waitFor({ state: 'detached' });
}
