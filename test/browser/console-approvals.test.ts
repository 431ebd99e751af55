import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { orderParties } from '../scenarios/orders-parties.ts';

interface Refusal {
  readonly error: { readonly code: string; readonly details: { readonly approval_id: string } };
}

const OLGA = 'olga@causeway.example';
const OMAR = 'omar@causeway.example';

describe.skipIf(consoleBrowser === undefined)('two operators decide what moves much money', () => {
  let ground: ConsoleGround;
  let driver: OrdersDriver;

  beforeAll(async () => {
    ground = await startConsole({ chains: true, env: { SECOND_APPROVAL_ABOVE_USD: '50' } });
    driver = ordersDriver(ground.gateway);
    await ground.gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => ground?.stop());

  /** The vendor says that the payment which the customer reports has not come. */
  async function disputedOrder(): Promise<string> {
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    await driver.act(orderId, 'confirm-payment-sent');
    const vendor = await orderParties(ground.gateway).vendorOf(orderId);
    expect((await vendor.post('dispute')).body.data.status).toBe('dispute_started');
    return orderId;
  }

  /** A decision as a page makes it, in the session of whoever is signed in. */
  const decide = (tab: ConsoleTab, orderId: string, decision: string, reason: string) =>
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

  async function open(tab: ConsoleTab, answer: Refusal): Promise<string> {
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

  it('is rejected, withdrawn, and carried out once the second person has seen the whole call', async () => {
    const orderId = await disputedOrder();
    const olga = await ground.enter('operator', { email: OLGA });
    const omar = await ground.enter('operator', {
      email: OMAR,
      colorScheme: 'dark',
      viewport: { width: 820, height: 1100 },
    });
    await olga.goto('/operator/approvals');
    await olga.page.getByText('Nothing waits for a second person').waitFor();

    await open(omar, await decide(olga, orderId, 'for_seller', 'No payment came'));
    await sayNo(omar, 'reject', 'It came today');

    await open(olga, await decide(olga, orderId, 'for_seller', 'No payment came, I looked twice'));
    await olga.page.getByTestId('own-request').waitFor();
    expect(await olga.page.getByTestId('approve').count()).toBe(0);
    expect(await olga.seriousFindings()).toEqual([]);
    await sayNo(olga, 'withdraw', 'It is there after all');
    await olga.goto('/operator/approvals?status=rejected');
    await olga.page.getByTestId('open-approval').nth(1).waitFor();
    expect((await driver.read(orderId)).status).toBe('dispute_started');

    const id = await open(omar, await decide(olga, orderId, 'for_buyer', 'The bank shows the payment'));
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
});
