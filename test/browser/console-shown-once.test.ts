import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { totpCode, totpStep } from '../../apps/gateway/src/lib/totp.ts';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';

describe.skipIf(consoleBrowser === undefined)('what is shown this once', () => {
  let ground: ConsoleGround;
  let partner: ConsoleTab;
  let operator: ConsoleTab;

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    [partner, operator] = await Promise.all([ground.enter('partner'), ground.enter('operator')]);
  }, 120_000);
  afterAll(() => ground?.stop());

  const by = (testId: string, { page } = partner) => page.getByTestId(testId);

  /** A click beside it and Escape leave it there with the focus in it; its own button closes it, and no other does. */
  async function isHeld(secret: Locator, button: string, tab: ConsoleTab): Promise<void> {
    const { page } = tab;
    await secret.waitFor();
    const dialog = page.getByRole('dialog').filter({ has: secret });
    const hasFocus = () => dialog.evaluate((node) => node.contains(node.ownerDocument.activeElement));
    await until('the focus in the dialog', hasFocus);
    expect(await tab.seriousFindings()).toEqual([]);
    expect(await dialog.getByRole('button', { name: 'Close', exact: true }).count()).toBeLessThan(2);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 450);
    await page.keyboard.press('Escape');
    expect(await secret.isVisible()).toBe(true);
    // By keys alone: to the button, and no further.
    const own = page.getByTestId(button);
    await own.focus();
    await page.keyboard.press('Tab');
    expect(await hasFocus()).toBe(true);
    await own.focus();
    await page.keyboard.press('Enter');
    await secret.waitFor({ state: 'detached' });
  }

  it('a key that a partner makes, and one that it rolls', async () => {
    await partner.goto('/partner/keys');
    await by('create-key').click();
    await by('key-label').fill('shown once');
    await partner.page.keyboard.press('Enter');
    await isHeld(by('shown-once'), 'create-key-close', partner);
    await by('roll-key').first().click();
    // Before it is made, the dialog closes as any other.
    await partner.page.keyboard.press('Escape');
    await by('roll-key-submit').waitFor({ state: 'detached' });
    await by('roll-key').first().click();
    await by('roll-key-submit').click();
    await isHeld(by('shown-once'), 'roll-key-close', partner);
  });

  it('nothing takes the dialog away while a key is made', async () => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await partner.page.route('**/console/keys', async (request) => {
      if (request.request().method() === 'POST') await held;
      await request.continue();
    });
    await by('create-key').click();
    await by('create-key-submit').click();
    await partner.page.locator('[data-testid="create-key-submit"][data-loading]').waitFor();
    await partner.page.keyboard.press('Escape');
    await partner.page.mouse.click(5, 450);
    expect(await partner.page.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    answer();
    await isHeld(by('shown-once'), 'create-key-close', partner);
    await partner.page.unroute('**/console/keys');
  });

  it('the secret of a webhook endpoint', async () => {
    await partner.goto('/partner/webhooks');
    await by('create-endpoint').first().click();
    await by('endpoint-url').fill('https://receiver.example/hooks');
    await by('create-endpoint-submit').click();
    await isHeld(by('shown-once'), 'create-endpoint-close', partner);
  });

  it('the link of an invitation', async () => {
    await partner.goto('/partner/team');
    await by('invite').click();
    await by('invite-email').fill('ada@console.example');
    await by('send-invitation').click();
    await isHeld(by('invitation-link'), 'invitation-kept', partner);
  });

  it('the recovery codes of an authenticator app', async () => {
    const tab = await ground.enter('vendor');
    await tab.goto('/vendor/account');
    await by('begin-totp', tab).click();
    const secret = (await by('totp-secret', tab).textContent()) ?? '';
    await by('confirm-code', tab).fill(totpCode(secret, totpStep(Date.now())));
    await by('confirm-totp', tab).click();
    await isHeld(by('recovery-codes', tab), 'codes-kept', tab);
    await tab.page.locator('[data-testid="totp-part"] [data-on="true"]').waitFor();
    await tab.context.close();
  });

  it('what an operator hands to a new partner, and to its first user', async () => {
    const { page } = operator;
    await operator.goto('/operator/partners');
    await by('create-partner', operator).click();
    await by('partner-name', operator).fill('Shown Once Pay');
    await by('partner-chain', operator).click();
    await page.getByRole('option', { name: 'base-mainnet' }).click();
    await by('partner-wallet', operator).fill(WALLET);
    await by('create-partner-submit', operator).click();
    await isHeld(by('secrets', operator), 'secrets-kept', operator);
    await page.getByRole('cell', { name: 'Shown Once Pay' }).click();
    await by('tab-users', operator).click();
    await by('invite-user', operator).click();
    await by('invite-email', operator).fill('first@once.example');
    await by('invite-user-submit', operator).click();
    await isHeld(by('secrets', operator), 'secrets-kept', operator);
    expect(ground.complaints).toEqual([]);
  });
});
