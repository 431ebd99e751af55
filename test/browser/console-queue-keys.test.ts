import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { settled } from '../harness/console-screens.ts';
import { queueCases } from '../scenarios/queue-cases.ts';

/** What is read of an element of the page. */
interface Measured {
  querySelectorAll(selector: string): Iterable<{
    readonly scrollWidth: number;
    readonly clientWidth: number;
    readonly textContent: string;
  }>;
}

describe.skipIf(consoleBrowser === undefined)('what the queue offers for a case', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let page: Page;
  const ids = {} as Record<QueueKind, string>;

  beforeAll(async () => {
    ground = await startConsole({
      chains: true,
      env: {
        RECONCILIATION_SECONDS: '1',
        RATE_LIMIT_PARTNER_PER_MINUTE: '100000',
        RATE_LIMIT_PUBLIC_PER_MINUTE: '100000',
      },
    });
    await ground.gateway.sdk().sandbox.setSettings({ auto_advance: false });
    const cases = queueCases(ground.gateway);
    const [entered] = await Promise.all([
      ground.enter('operator'),
      ...QUEUE_KINDS.map(async (kind) => {
        ids[kind] = await cases[kind]();
      }),
    ]);
    tab = entered;
    page = tab.page;
  }, 120_000);
  afterAll(() => ground?.stop());

  const shown = (kind: QueueKind) => page.locator(`[data-testid="case"][data-subject="${ids[kind]}"]`);
  const open = async (kind: QueueKind) => {
    await tab.goto(`/operator/queue?case=${kind}/${ids[kind]}`);
    await shown(kind).waitFor();
  };

  const cutLabels = () =>
    page.locator('[data-testid^="decide-"]').evaluateAll<string[], Measured>((all) =>
      all
        .flatMap((button) => [...button.querySelectorAll('span')])
        .filter((part) => part.scrollWidth > part.clientWidth && part.clientWidth > 0)
        .map((part) => part.textContent),
    );

  it('at every width a case stays within its window, and the labels of its decisions are whole', async () => {
    const cut: string[] = [];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await tab.goto('/operator/queue');
      for (const kind of QUEUE_KINDS) {
        await page.locator(`[data-testid="queue-row"][data-subject="${ids[kind]}"]`).click();
        await shown(kind).waitFor();
        for (const key of ['1', '2', '3', '4']) {
          await page.keyboard.press(key);
          await settled(page);
          const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          if (isWider === true) cut.push(`${kind}, tab ${key} at ${width}: the page`);
        }
        cut.push(...(await cutLabels()).map((label) => `${kind} at ${width}: ${label}`));
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(cut).toEqual([]);
    expect(ground.complaints).toEqual([]);
  }, 120_000);

  it('offers only the keys that do something: of an order, what the order allows', async () => {
    const offered = () => page.getByTestId('key-hints').locator('[data-hint="choose"]');
    const said = async (kind: QueueKind, keys: string) => {
      await open(kind);
      await offered().getByText(keys, { exact: true }).waitFor();
      const letters = await page.locator('[data-testid^="decide-"] kbd').allTextContents();
      expect([kind, letters.join(' ')]).toEqual([kind, keys]);
    };
    // Neither is the disputed order on hold, nor has the held one lost its KYC, nor is the token unknown.
    await said('dispute', 'A R E');
    await said('hold', 'A E');
    await said('deposit', 'A R E');
    await said('kyc', 'A R Q E');
    await page.keyboard.press('?');
    await page.getByRole('row', { name: 'Q Ask for a new submission' }).waitFor();
    await page.keyboard.press('Escape');
    await open('dispute');
    await offered().getByText('A R E', { exact: true }).waitFor();
    await page.keyboard.press('q');
    await page.keyboard.press('?');
    await page.getByRole('row', { name: 'R Decide for the seller' }).waitFor();
    expect(await page.getByRole('row', { name: /^Q / }).count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('chosen').count()).toBe(0);

    const held = await ground.gateway.operator.orders.decideHold(ids.dispute, {
      decision: 'place',
      reason: 'to see its hold',
    });
    expect(held.status).toBe(200);
    await tab.page.reload();
    await page.getByTestId('decide-q').getByText('Release its hold').waitFor();
  });
});
