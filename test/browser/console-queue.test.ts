import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { type QueueCases, queueCases } from '../scenarios/queue-cases.ts';

describe.skipIf(consoleBrowser === undefined)('the queue at the operator’s desk', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let page: Page;
  let cases: QueueCases;
  const ids = {} as Record<QueueKind, string>;

  beforeAll(async () => {
    ground = await startConsole({
      chains: true,
      env: {
        RECONCILIATION_SECONDS: '1',
        QUEUE_TARGETS: 'offer=1',
        SECOND_APPROVAL_ABOVE_USD: '50',
        RATE_LIMIT_PARTNER_PER_MINUTE: '100000',
        RATE_LIMIT_PUBLIC_PER_MINUTE: '100000',
      },
    });
    await ground.gateway.sdk().sandbox.setSettings({ auto_advance: false });
    cases = queueCases(ground.gateway);
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

  const { operator } = { operator: () => ground.gateway.operator };
  const row = (kind: QueueKind) => page.locator(`[data-testid="queue-row"][data-subject="${ids[kind]}"]`);
  const shown = (kind: QueueKind) => page.locator(`[data-testid="case"][data-subject="${ids[kind]}"]`);
  const waits = async (kind: QueueKind) =>
    (await operator().queue.get(kind, ids[kind])).body.error?.code !== 'QUEUE_CASE_NOT_FOUND';
  const open = async (kind: QueueKind) => {
    await tab.goto(`/operator/queue?case=${kind}/${ids[kind]}`);
    await shown(kind).waitFor();
  };
  /** By keys alone. */
  const moveTo = async (kind: QueueKind) => {
    for (const _ of QUEUE_KINDS) await page.keyboard.press('k');
    for (const _ of QUEUE_KINDS) {
      if ((await row(kind).getAttribute('aria-current')) === 'true') break;
      await page.keyboard.press('j');
    }
    await shown(kind).waitFor();
  };
  const choose = async (key: string) => {
    await page.keyboard.press(key);
    await page.locator(`[data-testid="chosen"][data-decision="${key.toUpperCase()}"]`).waitFor();
    await page.keyboard.press('Control+Enter');
  };
  /** Chosen and confirmed by keys, then sent. */
  const decide = async (kind: QueueKind, key: string, label: string) => {
    await choose(key);
    await page.getByTestId('pending-decision').getByText(label).waitFor();
    await until(`${kind} decided`, async () => !(await waits(kind)));
  };

  it('lists every kind, what is due first at the top, and says what is overdue', async () => {
    await ground.gateway.sdk().sandbox.advanceClock({ seconds: 120 });
    await tab.goto('/operator/queue');
    for (const kind of QUEUE_KINDS) await row(kind).waitFor();
    const first = page.getByTestId('queue-row').first();
    expect(await first.getAttribute('data-kind')).toBe('offer');
    expect(await first.getByTestId('row-due').getAttribute('data-overdue')).toBe('true');
    expect(Number(await page.getByTestId('count-overdue').getAttribute('data-count'))).toBeGreaterThan(0);
    await page.getByTestId('show-overdue').click();
    await row('hold').waitFor({ state: 'detached' });
    expect(await row('offer').count()).toBe(1);
    expect(page.url()).toContain('show=overdue');
    await page.getByTestId('show-all').click();
    await row('hold').waitFor();
  });

  it.each(QUEUE_KINDS)('shows what is needed to decide: %s', async (kind) => {
    await row(kind).click();
    await shown(kind).waitFor();
    await page.getByTestId('case-says').waitFor();
    await page.getByTestId('decide-a').waitFor();
    if (['kyc', 'proof', 'recipient_screening', 'fiat_payment'].includes(kind)) {
      expect(await page.getByTestId('revealed').count()).toBe(0);
      await page.getByTestId('reveal').waitFor();
      await page.keyboard.press('v');
      await page.getByTestId('revealed').waitFor();
    }
    // One of each panel.
    if (['kyc', 'dispute', 'recipient_screening', 'fiat_payment', 'effect'].includes(kind)) {
      expect(await tab.seriousFindings()).toEqual([]);
    }
  });

  it('the documents stand beside what was submitted, differences are marked, and the look is audited', async () => {
    await open('kyc');
    await page.getByTestId('reveal').click();
    await page.getByTestId('document').first().waitFor();
    expect(await page.getByTestId('mismatch').allTextContents()).toContain('partner says Graciela');
    await page.keyboard.press('z');
    await page.locator('[data-testid="document"][data-large="true"]').first().waitFor();
    await page.keyboard.press('4');
    await page.getByTestId('history').getByText('document reveal').first().waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await tab.seriousFindings()).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('of two operators who claim one case one has it, and the other sees who', async () => {
    await open('dispute');
    const second = await ground.enter('operator', { email: secondOperator() });
    await second.goto(`/operator/queue?kind=dispute&case=dispute/${ids.dispute}`);
    await second.page.getByTestId('claim-state').waitFor();
    await Promise.all([page.keyboard.press('c'), second.page.keyboard.press('c')]);
    const stateOf = (one: Page) => one.getByTestId('claim-state').getAttribute('data-claim');
    await until(
      'one claim',
      async () => (await Promise.all([stateOf(page), stateOf(second.page)])).sort().join() === 'mine,other',
    );
    const winner = (await stateOf(page)) === 'mine' ? page : second.page;
    await winner.keyboard.press('c');
    await winner.locator('[data-claim="none"]').waitFor();
    // What another decides is told to whoever looks at it.
    await open('screening_case');
    await second.goto(`/operator/queue?case=screening_case/${ids.screening_case}`);
    await second.page.getByTestId('decide-a').waitFor();
    await decide('screening_case', 'r', 'Block');
    await second.page.getByTestId('case-gone').waitFor();
    await second.context.close();
  });

  it('a decision is taken back within five seconds, and nothing of it is sent', async () => {
    await open('hold');
    await page.keyboard.press('a');
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('pending-decision').waitFor();
    await row('hold').waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await page.getByTestId('pending-decision').waitFor({ state: 'detached' });
    await shown('hold').waitFor();
    expect(await waits('hold')).toBe(true);
    // While somebody types, letters are letters.
    await page.keyboard.press('n');
    await page.keyboard.type('area');
    expect(await page.getByTestId('note').inputValue()).toBe('area');
    expect(await page.getByTestId('chosen').count()).toBe(0);
  });

  it('is worked through by keys alone: two for a clear case, and the next one is there', async () => {
    await tab.goto('/operator/queue');
    await row('kyc').waitFor();
    await page.keyboard.press('j');
    await until(
      'the second row',
      async () => (await page.getByTestId('queue-row').nth(1).getAttribute('aria-current')) === 'true',
    );
    // Each decision sends the one before it at once; the last is sent when its five seconds are over.
    const decided = ['kyc', 'recipient_screening', 'offer', 'proof'] as const;
    for (const kind of decided) {
      await moveTo(kind);
      await choose('a');
      await row(kind).waitFor({ state: 'detached' });
    }
    for (const kind of decided) await until(`${kind} decided`, async () => !(await waits(kind)));
    await page.keyboard.press('?');
    await page.getByText('Take it back, within five seconds').waitFor();
    expect(await tab.seriousFindings()).toEqual([]);
  });

  it('what takes two persons waits for the second, and says where', async () => {
    await open('hold');
    await page.keyboard.press('a');
    await page.keyboard.press('Control+Enter');
    await page.getByText('waits for a second person').waitFor();
    await shown('hold').or(page.getByTestId('queue-row')).first().waitFor();
    await row('hold').click();
    await page.getByTestId('waits-for-approval').getByRole('link', { name: 'Approvals' }).waitFor();
    expect(await waits('hold')).toBe(true);
  });

  it('works at the width of a tablet, and no page complained', async () => {
    await page.setViewportSize({ width: 820, height: 1100 });
    await open('deposit');
    await page.getByTestId('expected-and-came').waitFor();
    const wider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(wider).toBe(false);
    expect(await tab.seriousFindings()).toEqual([]);
    expect(ground.complaints).toEqual([]);
  });

  /** Another user of the operator. */
  function secondOperator(): string {
    const [, second] = ground.gateway.sandbox.console.filter(({ desk }) => desk === 'operator');
    return second?.email ?? '';
  }
});
