import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { type QueueCases, queueCases } from '../scenarios/queue-cases.ts';

interface Refusal {
  readonly error: { readonly code: string; readonly details: { readonly approval_id: string } };
}

const OLGA = 'olga@causeway.example';
const OMAR = 'omar@causeway.example';

describe.skipIf(consoleBrowser === undefined)('the queue at the operator’s desk', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let page: Page;
  let cases: QueueCases;
  let driver: OrdersDriver;
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
    driver = ordersDriver(ground.gateway);
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

  const operator = () => ground.gateway.operator;
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
  /** Whoever leaves the page has decided: nothing waits for its five seconds. */
  const leave = () => page.getByRole('link', { name: 'Partners' }).click();
  /** Chosen and confirmed by keys, then sent. */
  const decide = async (kind: QueueKind, key: string, label: string) => {
    await choose(key);
    await page.getByTestId('pending-decision').getByText(label).waitFor();
    await leave();
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
    if (kind === 'dispute' || kind === 'fiat_payment') expect(await tab.seriousFindings()).toEqual([]);
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
    // While the queue is read anew, the button says so and its key does nothing.
    await winner.locator('[data-testid="claim"]:not([data-loading])').waitFor();
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

  /** A decision as a page makes it, in the session of whoever is signed in. */
  const decideDispute = (tab: ConsoleTab, orderId: string, decision: string, reason: string) =>
    tab.page.evaluate(
      async ([id, verdict, why]) => {
        const session = (await (await fetch('/api/v1/console/session')).json()) as {
          data: { csrf_token: string };
        };
        const answer = await fetch(`/api/v1/operator/orders/${id}/dispute`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-csrf-token': session.data.csrf_token },
          body: JSON.stringify({ decision: verdict, reason: why }),
        });
        return (await answer.json()) as Refusal;
      },
      [orderId, decision, reason] as const,
    );

  const statusIn = (tab: ConsoleTab, status: string) =>
    tab.page.getByTestId('approval').locator(`[data-status="${status}"]`).waitFor();

  async function openApproval(tab: ConsoleTab, answer: Refusal): Promise<string> {
    expect(answer.error.code).toBe('APPROVAL_REQUIRED');
    const id = answer.error.details.approval_id;
    await tab.goto(`/operator/approvals?approval=${id}`);
    return id;
  }

  async function sayNo(tab: ConsoleTab, button: string, reason: string): Promise<void> {
    await tab.page.getByTestId(button).click();
    await tab.page.getByTestId('reason').fill(reason);
    await tab.page.getByTestId('confirm').click();
    await statusIn(tab, 'rejected');
  }

  it('a decision that moves much is rejected, withdrawn, and carried out once the second person has seen the whole call', async () => {
    const orderId = await cases.dispute();
    const olga = await ground.enter('operator', { email: OLGA });
    const omar = await ground.enter('operator', {
      email: OMAR,
      colorScheme: 'dark',
      viewport: { width: 820, height: 1100 },
    });
    await olga.goto('/operator/approvals');
    await olga.page.getByText('Nothing waits for a second person').waitFor();

    await openApproval(omar, await decideDispute(olga, orderId, 'for_seller', 'No payment came'));
    await sayNo(omar, 'reject', 'It came today');

    await openApproval(
      olga,
      await decideDispute(olga, orderId, 'for_seller', 'No payment came, I looked twice'),
    );
    await olga.page.getByTestId('own-request').waitFor();
    expect(await olga.page.getByTestId('approve').count()).toBe(0);
    await sayNo(olga, 'withdraw', 'It is there after all');
    await olga.goto('/operator/approvals?status=rejected');
    await olga.page.getByTestId('open-approval').nth(1).waitFor();
    expect((await driver.read(orderId)).status).toBe('dispute_started');

    const id = await openApproval(
      omar,
      await decideDispute(olga, orderId, 'for_buyer', 'The bank shows the payment'),
    );
    const card = omar.page.getByTestId('approval');
    await card.getByTestId('approve').waitFor();
    const text = await card.innerText();
    expect(text).toContain('Decide the dispute for the buyer: what is in the escrow goes to the buyer.');
    expect(text).toContain('Olga Operator');
    expect(text).toContain('The bank shows the payment');
    expect(text).toContain(`/api/v1/operator/orders/${orderId}/dispute`);
    expect(text).toContain('"decision": "for_buyer"');
    expect(await card.getByTestId('amount').innerText()).toMatch(/^\d+\.\d+ USD$/);
    expect(await omar.seriousFindings()).toEqual([]);
    await card.getByTestId('approve').click();
    await omar.page.getByTestId('confirm').click();
    await statusIn(omar, 'approved');
    expect((await driver.read(orderId)).allowed_actions).toEqual(['authorize-release']);
    const { body } = await ground.gateway.operator.approvals.get(id);
    expect(body.data).toMatchObject({
      requested_by: { name: 'Olga Operator' },
      decided_by: { name: 'Omar Operator' },
    });
    expect(ground.complaints).toEqual([]);
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
    // Each decision sends the one before it at once; the last is sent when the page is left.
    const decided = ['kyc', 'recipient_screening', 'offer', 'proof'] as const;
    for (const kind of decided) {
      await moveTo(kind);
      await choose('a');
      await row(kind).waitFor({ state: 'detached' });
    }
    await page.keyboard.press('?');
    await page.getByText('Take it back, within five seconds').waitFor();
    expect(await tab.seriousFindings()).toEqual([]);
    await page.keyboard.press('Escape');
    await leave();
    for (const kind of decided) await until(`${kind} decided`, async () => !(await waits(kind)));
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
    expect(ground.complaints).toEqual([]);
  });

  /** Another user of the operator. */
  function secondOperator(): string {
    const [, second] = ground.gateway.sandbox.console.filter(({ desk }) => desk === 'operator');
    return second?.email ?? '';
  }
});
