import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { callsOf, embedded, hosted } from '../harness/widget-driver.ts';
import { type HostPages, serveHostPages } from '../harness/widget-pages.ts';
import { foundBrowser, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const ENVELOPE = { protocol: 'causeway-widget', version: 1 };

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('the widget among pages that mean it no good', () => {
  let fixture: WidgetFixture;
  /** An origin that a sandbox does not trust by itself, unlike localhost. */
  let foreign: HostPages;

  beforeAll(async () => {
    fixture = await startWidgetFixture({ worker: true });
    const { baseUrl, partners } = fixture.gateway;
    foreign = await serveHostPages(baseUrl, partners[0].widgetKey, 'elsewhere.localhost');
  });
  afterAll(async () => {
    await foreign?.close();
    await fixture?.close();
  });

  const frameAddress = () =>
    `${fixture.gateway.baseUrl}/widget/frame?key=${fixture.gateway.partners[0].widgetKey}`;
  const checkoutAddress = () => frameAddress().replace('/frame', '/checkout');

  async function visit(address: string): Promise<{ page: Page; told: string[] }> {
    const page = await (await fixture.newContext()).newPage();
    const told: string[] = [];
    page.on('console', (message) => told.push(message.text()));
    await page.goto(address);
    return { page, told };
  }

  it('is not framed by an origin that the partner has not named, and is once it has', async () => {
    const { page, told } = await visit(foreign.page({ by: 'script' }));
    await until('a refusal', () => told.some((text) => text.includes('frame-ancestors')));
    expect(await embedded(page).root.locator('.widget').count()).toBe(0);

    const { operator } = fixture.gateway.sdk(fixture.gateway.sandbox.operatorKey);
    const { name } = fixture.gateway.partners[0];
    const { partners } = await operator.partners.list();
    const partnerId = partners.find((one) => one.name === name)?.partner_id ?? '';
    await operator.partners.setWidgetOrigins(partnerId, { origins: [foreign.origin] });
    const allowed = await visit(foreign.page({ by: 'script' }));
    await embedded(allowed.page).step('amount');
    await operator.partners.setWidgetOrigins(partnerId, { origins: [] });
  });

  it('is never framed as the hosted page', async () => {
    const { told } = await visit(fixture.shop.plain(`<iframe src="${checkoutAddress()}"></iframe>`));
    await until('a refusal', () => told.some((text) => /frame-ancestors|X-Frame-Options/.test(text)));
  });

  it('hears nobody but the page around it, in its own version and channel', async () => {
    // A page without the loader, which answers the frame’s hello as it is told to.
    const { page } = await visit(
      fixture.shop.plain(`<iframe id="frame" src="${frameAddress()}"></iframe><script>
        window.hellos = [];
        window.addEventListener('message', ({ data }) => window.hellos.push(data));
        window.answer = (envelope) => {
          const { port1, port2 } = new MessageChannel();
          window.heard = [];
          port1.onmessage = ({ data }) => window.heard.push(data.message.type);
          document.getElementById('frame').contentWindow.postMessage(envelope, '*', [port2]);
        };
      </script>`),
    );
    await page.waitForFunction('window.hellos.length > 0');
    const { channel } = await page.evaluate<{ channel: string }>('window.hellos[0].message');
    const init = (more: object, envelope: object = {}) =>
      page.evaluate<void>(
        `window.answer(${JSON.stringify({ ...ENVELOPE, ...envelope, message: { type: 'init', channel, settings: {}, wallets: [], ...more } })})`,
      );
    const widget = page.locator('#frame').contentFrame().locator('.widget h1');
    await init({ channel: 'guessed' });
    await init({}, { version: 2 });
    await init({}, { protocol: 'another' });
    // Another frame of the same page says the same words: it is not the parent.
    await page.evaluate(
      `new Promise((done) => {
        const other = document.createElement('iframe');
        other.onload = () => done(other.contentWindow.eval(
          'parent.frames[0].postMessage(${JSON.stringify({ ...ENVELOPE, message: { type: 'init', channel, settings: {}, wallets: [] } })}, "*", [new MessageChannel().port2])'));
        document.body.append(other);
      })`,
    );
    expect(await widget.count()).toBe(0);
    await init({});
    await widget.waitFor();
    expect(await page.evaluate('window.heard')).toContain('ready');
  });

  it('does not take another frame’s word for that of the widget', async () => {
    const { page } = await visit(fixture.shop.page({ by: 'script', options: { side: 'onramp' } }));
    await embedded(page).step('amount');
    const before = await callsOf(page);
    await page.evaluate(`(() => {
      for (const message of [
        { type: 'hello', channel: 'forged' },
        { type: 'trade_completed', orderId: 'forged', side: 'onramp' },
        { type: 'wallet_request', id: '1', wallet: 'x', method: 'eth_sendTransaction', params: [] },
        { type: 'close_request' },
      ]) {
        window.postMessage({ ...${JSON.stringify(ENVELOPE)}, message }, '*');
        window.dispatchEvent(new MessageEvent('message', {
          data: { ...${JSON.stringify(ENVELOPE)}, message }, origin: ${JSON.stringify(fixture.gateway.baseUrl)}, source: window,
        }));
      }
    })()`);
    await page.evaluate('new Promise((done) => setTimeout(done))');
    expect(await callsOf(page)).toEqual(before);
    await embedded(page).step('amount');
  });

  it('passes seven methods on to a wallet and no other, whatever the frame asks for', async () => {
    const context = await fixture.newContext();
    const wallet = await fixture.wallet(context);
    // A service that has been taken over: its frame asks for what ours never does.
    const evil = await serveHostPages(fixture.gateway.baseUrl, '', 'localhost');
    const page = await context.newPage();
    const address = evil.plain(`<script>
      const say = (message) => ({ protocol: 'causeway-widget', version: 1, message });
      window.answers = [];
      window.addEventListener('message', ({ data, ports: [port] }) => {
        const [{ uuid }] = data.message.wallets;
        port.onmessage = ({ data }) => window.answers.push(data.message);
        const methods = ['eth_sign', 'eth_signTypedData', 'eth_getEncryptionPublicKey', 'wallet_addEthereumChain',
          'wallet_requestPermissions', 'eth_sendRawTransaction', '__proto__', 'eth_accounts'];
        for (const method of methods) {
          port.postMessage(say({ type: 'wallet_request', id: method, wallet: uuid, method, params: [] }));
        }
      });
      parent.postMessage(say({ type: 'hello', channel: 'c' }), '*');
    </script>`);
    await page.route(`${fixture.gateway.baseUrl}/widget/frame?*`, async (route) =>
      route.fulfill({ contentType: 'text/html', body: await (await fetch(address)).text() }),
    );
    await page.goto(fixture.shop.page({ by: 'script' }));
    const frame = await until('the frame', () => page.frames().find((one) => one !== page.mainFrame()));
    await frame.waitForFunction('window.answers.length === 8');
    const answers = await frame.evaluate<{ id: string; error?: { code: number } }[]>('window.answers');
    expect(answers.filter(({ error }) => error?.code === 4200)).toHaveLength(7);
    expect(wallet.calls.map(({ method }) => method)).toEqual(['eth_accounts']);
    await evil.close();
  });

  it('shows what partners and customers write as text, whatever it looks like', async () => {
    const attack = '<img src=x onerror="window.taken = true">';
    const { operator } = fixture.gateway.sdk(fixture.gateway.sandbox.operatorKey);
    const { widget_key: key } = await operator.partners.create({
      name: attack,
      wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      settlement_chain: 'base-mainnet',
    });
    const settings = { key: key.key, fiatCurrency: 'EUR', country: 'DE' };
    const address = `${fixture.gateway.baseUrl}/widget/checkout?${new URLSearchParams(settings)}#userReference=${encodeURIComponent(attack)}`;
    const { page } = await visit(address);
    const widget = hosted(page);
    await widget.step('amount');
    expect(await page.locator('.brand').textContent()).toBe(attack);
    expect(await page.evaluate('[window.taken, document.images.length]')).toEqual([undefined, 0]);
  });

  it('sets no cookie, and its policy allows nothing inline', async () => {
    for (const address of [frameAddress(), checkoutAddress()]) {
      const { headers } = await fetch(address);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe-|script-src [^;]*(?:\*|data:|blob:|http)/);
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
    const { page } = await visit(checkoutAddress());
    await hosted(page).step('amount');
    expect(await page.context().cookies()).toEqual([]);
  });
});
