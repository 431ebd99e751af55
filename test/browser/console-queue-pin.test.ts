import type { QueueKind } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { type QueueCases, queueCases } from '../scenarios/queue-cases.ts';

/** As the page shortens it. */
const short = (id: string) => `${id.slice(0, 8)}…${id.slice(-4)}`;

describe.skipIf(consoleBrowser === undefined)('the case that somebody is deciding', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let page: Page;
  let cases: QueueCases;
  /** Two orders on hold, in the order of the queue. */
  let holds: string[];

  beforeAll(async () => {
    // An offer is due within a minute: it comes before everything else here.
    ground = await startConsole({
      chains: true,
      env: { QUEUE_TARGETS: 'offer=1', RATE_LIMIT_PARTNER_PER_MINUTE: '100000' },
    });
    await ground.gateway.sdk().sandbox.setSettings({ auto_advance: false });
    cases = queueCases(ground.gateway);
    holds = [await cases.hold(), await cases.hold()];
    tab = await ground.enter('operator');
    page = tab.page;
  }, 120_000);
  afterAll(() => ground?.stop());

  const rows = () => page.getByTestId('queue-row');
  const row = (id: string) => page.locator(`[data-testid="queue-row"][data-subject="${id}"]`);
  const shown = (id: string) => page.locator(`[data-testid="case"][data-subject="${id}"]`);
  const isFirst = (id: string) =>
    until(`${id} at the top`, async () => (await rows().first().getAttribute('data-subject')) === id);
  const isNamed = (kind: QueueKind, id: string) =>
    page.waitForURL((url) => url.searchParams.get('case') === `${kind}/${id}`);
  const decided = async (key: string) => {
    await page.keyboard.press(key);
    await page.getByTestId('chosen').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('pending-decision').waitFor();
  };

  it('is the first one, named in the address; the browser’s Back leads to the page before', async () => {
    await tab.goto('/operator/partners');
    await page.getByRole('link', { name: 'Queue' }).click();
    await shown(holds[0] ?? '').waitFor();
    await isNamed('hold', holds[0] ?? '');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Partners' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/operator/partners');
    await page.goForward();
    await shown(holds[0] ?? '').waitFor();
  });

  it('stays where a more urgent one comes, and what is decided is its own', async () => {
    const [first = ''] = holds;
    await page.keyboard.press('n');
    await page.keyboard.type('looked at it twice');
    const offer = await cases.offer();
    await isFirst(offer);
    await shown(first).waitFor();
    expect(await row(first).getAttribute('aria-current')).toBe('true');
    expect(await page.getByTestId('note').inputValue()).toBe('looked at it twice');
    await page.keyboard.press('Control+Enter');
    expect(await page.getByTestId('pending-decision').count()).toBe(0);
    await page.getByTestId('note').blur();

    // What is done between a decision and its undo has five seconds: nothing else may come between.
    await decided('a');
    await page.keyboard.press('u');
    await shown(first).waitFor();
    await until('all three', async () => (await rows().count()) === 3);
  });

  it('is named where its decision is not done, when another is shown', async () => {
    const [first = '', second = ''] = holds;
    const decision = `**/operator/orders/${first}/hold`;
    await page.route(decision, (request) => {
      const error = {
        code: 'INVALID_STATUS',
        message: 'Somebody was faster.',
        request_id: 'req_1',
        details: {},
      };
      return request.fulfill({ status: 409, json: { success: false, error } });
    });
    await shown(first).waitFor();
    // It stands there for ten seconds, which may begin before the rest is looked at.
    const told = page.getByRole('alert').filter({ hasText: 'not done' });
    const said = told
      .getByText(`order ${short(first)}`)
      .waitFor()
      .then(() => told.textContent());
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByTestId('decide-a').click();
    await page.getByTestId('confirm-decision').click();
    const bar = page.getByTestId('pending-decision');
    const [words, box] = [await bar.textContent(), await bar.boundingBox()];
    expect(words).toContain(`Orders on hold, order ${short(first)}`);
    expect([(box?.x ?? -1) >= 0, (box?.x ?? 0) + (box?.width ?? 999) <= 390]).toEqual([true, true]);
    await page.setViewportSize({ width: 1280, height: 900 });
    // The one below is next, as ever, and not the urgent one.
    await shown(second).waitFor();
    await isNamed('hold', second);
    expect(await tab.seriousFindings()).toEqual([]);
    // Leaving sends it, where it is not sent by now.
    await page.getByRole('link', { name: 'Partners' }).click();
    expect(await said).toContain('Somebody was faster.');
    await page.unroute(decision);
  });

  it('is the first of the view that is chosen, none where nothing waits, and what comes then', async () => {
    await tab.goto('/operator/queue');
    await rows().first().waitFor();
    const urgent = (await rows().first().getAttribute('data-subject')) ?? '';
    await isNamed('offer', urgent);
    await page.getByTestId('filter-kind').selectOption('hold');
    await isNamed('hold', holds[0] ?? '');
    await page.keyboard.press('j');
    await isNamed('hold', holds[1] ?? '');
    await page.getByTestId('filter-kind').selectOption('kyc');
    await page.getByText('Nothing waits').waitFor();
    expect(await page.getByTestId('case').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('case')).toBeNull();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const user = await cases.kyc();
    await shown(user).waitFor();
    await isNamed('kyc', user);
    await page.getByTestId('decide-a').waitFor();
    expect(await page.getByTestId('chosen').count()).toBe(0);

    // The last one of a view, decided: nothing is shown, and nothing is named.
    await decided('a');
    await page.getByText('Nothing waits').waitFor();
    await page.waitForURL((url) => url.searchParams.get('case') === null);
    expect(await page.getByTestId('case').count()).toBe(0);
    expect(await page.getByTestId('pending-decision').textContent()).toContain(`KYC reviews, ${short(user)}`);
    await page.keyboard.press('u');
    await shown(user).waitFor();
    await page.getByTestId('show-all').click();
    expect(ground.complaints).toEqual([]);
  });
});
