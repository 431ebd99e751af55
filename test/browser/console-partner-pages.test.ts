import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';

interface CSSStyle {
  getPropertyValue(name: string): string;
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(consoleBrowser === undefined)('the partner’s pages beside orders', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let receiver: Server;
  const received: string[] = [];
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received.push(String(request.headers['x-webhook-event'] ?? request.url));
      request.resume();
      response.end('taken');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    ground = await startConsole({ worker: true });
    tab = await ground.enter('partner');
  });
  afterAll(async () => {
    await ground?.stop();
    receiver?.close();
  });

  const at = (testId: string) => tab.page.getByTestId(testId);
  /** Chooses in a list of the component library: its options stand elsewhere in the page. */
  async function choose(testId: string, option: string | RegExp): Promise<void> {
    await at(testId).click();
    await tab.page.getByRole('option', { name: option }).first().click();
  }
  /** For what a walk over the pages does not see: dialogs, and what is there only after something was done. */
  async function isSound(): Promise<void> {
    expect(await tab.seriousFindings()).toEqual([]);
    expect(ground.complaints).toEqual([]);
  }

  it('creates a customer, submits KYC, uploads a document, and shows the person in full when asked', async () => {
    await tab.goto('/partner/customers');
    await at('empty').waitFor();
    await at('create-customer').click();
    await at('customer-email').fill('no address');
    await at('create-customer-submit').click();
    await tab.page.locator('[data-code="VALIDATION_ERROR"]').waitFor();
    await at('customer-email').fill('ada@example.com');
    await at('customer-first_name').fill('Ada');
    await at('customer-reference_id').fill('customer-42');
    await at('create-customer-submit').click();
    await at('kyc-next').waitFor();
    expect(await at('profile').textContent()).toContain('a****@example.com');
    await at('reveal').click();
    await at('profile').getByText('ada@example.com').waitFor();

    await at('submit-kyc').click();
    await choose('kyc-method', /I have the data/);
    const said = {
      first_name: 'Ada',
      last_name: 'Lovelace',
      date_of_birth: '1990-12-31',
      nationality: 'DE',
      id_number: 'C01X00T47',
      id_issue_country: 'DE',
      address: 'Unter den Linden 1',
      city: 'Berlin',
      postal_code: '10117',
      country_code: 'DE',
      phone_number: '+4915112345678',
    };
    for (const [name, value] of Object.entries(said)) await at(`kyc-${name}`).fill(value);
    await choose('kyc-gender', 'F');
    await choose('kyc-id_type', 'PASSPORT');
    await choose('kyc-source_of_funds', 'SALARY');
    await at('submit-kyc-submit').click();
    await at('submit-kyc-close').click();
    await at('missing-documents').waitFor();
    await at('upload-document').click();
    await tab.page
      .locator('input[type="file"]')
      .setInputFiles({ name: 'passport.png', mimeType: 'image/png', buffer: PNG });
    await at('upload-document-submit').click();
    await at('submission').getByText('Front of the identity document').first().waitFor();
    await isSound();

    await tab.goto('/partner/customers?reference_id=customer-42');
    await tab.page.locator('[data-row]').getByText('PENDING DOCUMENTS').waitFor();
  });

  it('creates a recipient, adds an account by the fields of its rail, and archives it', async () => {
    await tab.goto('/partner/recipients');
    await at('create-recipient').click();
    await at('recipient_name').fill('Kofi Mensah');
    await at('recipient_country').fill('DE');
    await at('create-recipient-submit').click();
    await at('screening-words').waitFor();
    await at('add-destination').click();
    await choose('rail-currency', 'EUR');
    await choose('rail-country', 'DE');
    await choose('rail-slug', /SEPA/i);
    await at('rail-field-full_name').fill('Kofi Mensah');
    await at('rail-field-iban').fill('DE00');
    await at('add-destination-submit').click();
    await tab.page.getByTestId('problem').waitFor();
    await at('rail-field-iban').fill('DE89370400440532013000');
    await at('add-destination-submit').click();
    await at('destinations').getByText('****3000').waitFor();
    await isSound();
    await at('archive').click();
    await at('confirm').click();
    await at('recipients').waitFor();
  });

  it('hands an identification in, opens a fiat account and shows its statement and payments', async () => {
    const { data } = (await ground.gateway.partner.users.create({ email: 'grace@example.com' })).body;
    await ground.gateway.partner.sandbox.kycStatus(data.id, { status: 'VERIFIED' });
    await tab.goto(`/partner/fiat-accounts?customer=${data.id}`);
    await at('submit-identification').click();
    const values: Record<string, string> = {
      first_name: 'Grace',
      last_name: 'Hopper',
      date_of_birth: '1990-12-09',
      nationality: 'DE',
      address: 'Unter den Linden 1',
      city: 'Berlin',
      postal_code: '10117',
      country_code: 'DE',
      phone_number: '+4915112345678',
    };
    // Only what KYC does not know is asked for.
    await at('identification-city').waitFor();
    for (const [name, value] of Object.entries(values)) {
      const field = at(`identification-${name}`);
      if ((await field.count()) === 1) await field.fill(value);
    }
    await at('submit-identification-submit').click();
    const approved = async () =>
      (await ground.gateway.partner.fiatAccounts.getIdentification(data.id)).body.data.status === 'approved';
    await until('the bank approves', approved, 10_000);
    await tab.page.reload();
    await at('issue-account').click();
    await at('issue-account-submit').click();
    const account = at('accounts').getByRole('link').first();
    await account.waitFor();
    const id = (await account.textContent()) ?? '';
    const active = async () =>
      (await ground.gateway.partner.fiatAccounts.get(data.id, id)).body.data.status === 'active';
    await until('the account is open', active, 10_000);
    await ground.gateway.partner.sandbox.deposit(data.id, id, {
      amount: '250.00',
      sender_name: 'Grace Hopper',
    });
    const paid = async () =>
      (await ground.gateway.partner.fiatAccounts.ledger(data.id, id)).body.data.balance === '250.00';
    await until('the deposit is booked', paid, 10_000);
    await account.click();
    await at('balance').getByText('250.00 EUR').waitFor();
    await at('ledger').getByText('Paid in').waitFor();
    await isSound();
    await at('movements-view').getByText('Payments received').click();
    await at('payments').locator('[data-row]').waitFor();
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      at('download-statement').click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
  });

  it('creates a webhook endpoint, shows its secret once, its deliveries and their attempts, replays and rotates', async () => {
    const { port } = receiver.address() as AddressInfo;
    await tab.goto('/partner/webhooks');
    await at('create-endpoint').click();
    await at('endpoint-url').fill(`http://127.0.0.1:${port}/hooks`);
    await at('create-endpoint-submit').click();
    expect(await at('shown-once').getAttribute('data-value')).toMatch(/^whsec_/);
    await at('create-endpoint-close').click();
    // It has not failed, and has not shown that it works either.
    const health = at('health');
    await at('webhooks').getByText('nothing has been delivered').waitFor();
    expect(await health.getAttribute('data-health')).toBe('unproven');
    await at('webhooks').getByRole('link').first().click();
    await at('endpoint-facts').waitFor();
    await at('test-endpoint').click();
    await tab.page.getByText('The test event was taken.').waitFor();
    expect(received.length).toBeGreaterThan(0);
    const { data } = (await ground.gateway.partner.users.create({ email: 'alan@example.com' })).body;
    await ground.gateway.partner.sandbox.kycStatus(data.id, { status: 'VERIFIED' });
    const [endpoint] = (await ground.gateway.partner.webhookEndpoints.list()).body.data.endpoints;
    await until('it is delivered', async () => {
      const query = { event_type: 'user.kyc.updated', status: 'delivered' } as const;
      const { body } = await ground.gateway.partner.webhookEndpoints.listDeliveries(
        endpoint?.id ?? '',
        query,
      );
      return body.data.deliveries.length > 0;
    });
    await tab.page.reload();
    const row = at('deliveries').locator('[data-row]').first();
    await row.getByText('delivered').waitFor();
    await tab.page.locator('[data-health="ok"]').getByText('delivers').waitFor();
    await row.click();
    await at('attempt').getByText('taken').waitFor();
    expect(await at('delivery').textContent()).toContain('user.kyc.updated');
    await at('replay-one').click();
    await tab.page.getByText('It is sent again.').waitFor();
    await isSound();
    await tab.page.keyboard.press('Escape');
    await at('replay-since').click();
    await at('replay-since-submit').click();
    await at('replayed').waitFor();
    await at('replay-since-close').click();
    await at('rotate-secret').click();
    await at('rotate-secret-submit').click();
    expect(await at('shown-once').getAttribute('data-value')).toMatch(/^whsec_/);
    await at('rotate-secret-close').click();
    await at('endpoint-facts').getByText('Old secret also signs until').waitFor();
    await at('delete-endpoint').click();
    await at('confirm').click();
    await at('empty').waitFor();
  });

  it('creates, rolls and revokes a key, and explains the failed call made with it', async () => {
    await tab.goto('/partner/keys');
    await at('create-key').click();
    await at('key-label').fill('night shift');
    await at('create-key-submit').click();
    const key = (await at('shown-once').getAttribute('data-value')) ?? '';
    await at('create-key-close').click();
    const refused = await ground.gateway.call(
      'GET',
      '/api/v1/partner/orders/0199aa9f-3333-7c41-9d0e-6b1f5a3c2d10',
      { key },
    );
    const requestId = refused.headers.get('x-request-id') ?? '';
    const row = at('keys').locator('[data-row]').filter({ hasText: 'night shift' });
    await row.getByTestId('roll-key').click();
    await at('roll-key-submit').click();
    const next = (await at('shown-once').getAttribute('data-value')) ?? '';
    await isSound();
    await at('roll-key-close').click();
    const works = async (one: string) =>
      (await ground.gateway.call('GET', '/api/v1/partner/users', { key: one })).status;
    expect([await works(key), await works(next)]).toEqual([200, 200]);
    await row.filter({ hasText: 'ending' }).getByTestId('revoke-key').click();
    await at('confirm').click();
    await row.filter({ hasText: 'revoked' }).waitFor();
    const colorOf = (status: string) =>
      row
        .locator(`[data-status="${status}"]`)
        .evaluate((badge) => badge.ownerDocument.defaultView?.getComputedStyle(badge).backgroundColor);
    expect(await colorOf('revoked')).not.toBe(await colorOf('active'));
    expect([await works(key), await works(next)]).toEqual([401, 200]);

    await until('it is in the log', async () => {
      const { body } = await ground.gateway.partner.requestLog.list({ request_id: requestId });
      return body.data.requests.length === 1;
    });
    await tab.goto(`/partner/requests?request_id=${requestId}`);
    const call = at('requests').locator('[data-row]');
    await call.click();
    await at('explanation').getByText('ORDER_NOT_FOUND').waitFor();
    await isSound();
  });

  it('sets the widget’s origins, shows the widget itself beside its look, and gives the code to embed it', async () => {
    await tab.goto('/partner/widget');
    await at('origins-text').fill('shop.example');
    await at('save-origins').click();
    await tab.page.locator('[data-code="VALIDATION_ERROR"]').waitFor();
    await at('origins-text').fill('https://shop.example');
    await at('save-origins').click();
    await at('origins-saved').waitFor();
    const { widgetKey } = ground.gateway.partners[0];
    await at('widget-key').fill(widgetKey);
    await at('look-accent').fill('#b00020');
    const frame = tab.page.frameLocator('[data-testid="preview"] iframe');
    await frame.locator('main').first().waitFor();
    const code = (await at('embed-code').textContent()) ?? '';
    expect(code).toContain(widgetKey);
    expect(code).toContain('#b00020');
    const accent = () =>
      frame
        .locator('html')
        .evaluate((html) => (html as unknown as { style: CSSStyle }).style.getPropertyValue('--cw-accent'));
    await until('the look is taken over', async () => (await accent()) === '#b00020');
    await isSound();
  });

  it('downloads the orders of a period with the filters of the list', async () => {
    await tab.goto('/partner/exports?order_type=offramp');
    const [download] = await Promise.all([tab.page.waitForEvent('download'), at('download-orders').click()]);
    expect(download.url()).toContain('order_type=offramp');
    expect(download.suggestedFilename()).toMatch(/^orders_.*\.csv$/);
    await at('download-orders-from').fill('2020-01-01');
    await tab.page.getByText('At most 366 days').waitFor();
    expect(ground.complaints).toEqual([]);
  });
});
