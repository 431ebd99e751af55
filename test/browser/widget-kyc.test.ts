import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foundBrowser, newEmail, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('who the customer is', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture({ worker: true });
  });
  afterAll(() => fixture?.close());

  async function atVerify() {
    const email = newEmail();
    const options = { side: 'onramp', fiatCurrency: 'EUR', country: 'DE', amount: '100' };
    const opened = await fixture.open({ embed: { by: 'package', options } });
    await opened.widget.amount({ rail: 'iban-sepa' });
    await opened.widget.identify(email);
    await opened.widget.step('verify');
    return { ...opened, email };
  }

  it('refused for good is told so in words, and cannot trade', async () => {
    const { widget } = await atVerify();
    await widget.verify({ last_name: 'Rejected' });
    await widget.root.locator('[data-testid="kyc-status"][data-status="REJECTED"]').waitFor();
    expect((await widget.by('kyc-status').textContent())?.length).toBeGreaterThan(20);
    expect(await widget.by('kyc-submit').count()).toBe(0);
  });

  it('under review waits, and goes on without a reload once it is verified, whatever fails on the way', async () => {
    const { page, widget, email } = await atVerify();
    await widget.verify({ last_name: 'Review' });
    await widget.root.locator('[data-testid="kyc-status"][data-status="UNDER_REVIEW"]').waitFor();
    const { id } = await fixture.userOf(email);
    let failed = 0;
    await page.route('**/api/v1/widget/session', (route) =>
      ++failed === 1 ? route.fulfill({ status: 500, json: {} }) : route.continue(),
    );
    await fixture.gateway.sdk().sandbox.kycStatus(id, { status: 'VERIFIED' });
    await widget.step('destination');
    expect(failed).toBe(2);
  });

  it('may try again when a document could not be read', async () => {
    const { widget } = await atVerify();
    await widget.verify({ last_name: 'Resubmit' });
    await widget.root.locator('[data-testid="kyc-status"][data-status="VERIFICATION_REJECTED"]').waitFor();
    await widget.verify({ last_name: 'Lovelace' });
    await widget.step('destination');
  });
});
