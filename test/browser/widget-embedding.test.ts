import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { callsOf, embedded } from '../harness/widget-driver.ts';
import { foundBrowser, newEmail, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const IN_EUROS = { side: 'onramp', fiatCurrency: 'EUR', country: 'DE', amount: '100' };

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('the widget in a page', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture({ worker: true });
  });
  afterAll(() => fixture?.close());

  it('follows the attributes of its element while it is used, and keeps what was entered', async () => {
    const attributes = {
      side: 'onramp',
      'fiat-currency': 'EUR',
      country: 'DE',
      amount: '100',
      theme: 'light',
    };
    const { page, widget, complaints } = await fixture.open({ embed: { by: 'element', attributes } });
    await widget.amount({ rail: 'iban-sepa' });
    await widget.by('email').fill('half@example.com');
    await page.evaluate(`document.querySelector('causeway-ramp').setAttribute('locale', 'ar')`);
    await widget.root.locator('html[lang="ar"][dir="rtl"]').waitFor();
    await page.evaluate(`document.querySelector('causeway-ramp').setAttribute('theme', 'dark')`);
    await widget.root.locator('html[data-theme="dark"]').waitFor();
    expect(await widget.by('email').inputValue()).toBe('half@example.com');
    expect(complaints).toEqual([]);
  });

  it('tells the page that it asked for what cannot be, and begins with nothing chosen', async () => {
    const options = { ...IN_EUROS, amount: '12.345,6' };
    const { page, widget } = await fixture.open({ embed: { by: 'script', options } });
    await widget.step('amount');
    expect((await callsOf(page)).filter(({ name }) => name === 'onError')).toMatchObject([
      { payload: { code: 'VALIDATION_ERROR' } },
    ]);
    expect(await widget.by('amount-fiat').inputValue()).toBe('');
  });

  it('may be there several times, each with a customer of its own', async () => {
    const page = await (await fixture.newContext()).newPage();
    await page.goto(
      fixture.shop.page(
        { by: 'script', options: IN_EUROS },
        { by: 'script', options: { ...IN_EUROS, side: 'offramp' } },
      ),
    );
    const [first, second] = [embedded(page, 0), embedded(page, 1)];
    await Promise.all([first.step('amount'), second.step('amount')]);
    await first.amount({ rail: 'iban-sepa' });
    await first.identify(newEmail());
    await first.step('verify');
    await second.step('amount');
    expect(await second.by('my-orders').count()).toBe(0);
    await page.reload();
    await first.step('verify');
    await second.step('amount');
    await second.by('close').click();
    await until('its end', async () => (await callsOf(page)).some(({ name }) => name === 'onClose'));
    expect((await callsOf(page)).filter(({ name }) => name === 'onClose')).toMatchObject([{ instance: 1 }]);
    await first.step('verify');
  });

  it('does not move what stands below it', async () => {
    const page = await (await fixture.newContext()).newPage();
    await page.addInitScript(`window.shift = 0;
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    await page.goto(fixture.shop.page({ by: 'script', options: IN_EUROS }));
    await embedded(page).by('estimate').waitFor();
    expect(await page.evaluate('window.shift')).toBeLessThanOrEqual(0.02);
  });
});
