import { DESKS } from '@causeway/protocol/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { totpCode, totpStep } from '../../apps/gateway/src/lib/totp.ts';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';

const PASSWORD = 'a sentence that nobody guesses';
const WHO = 'grace@console.example';

describe.skipIf(consoleBrowser === undefined)('accounts and teams at the console', () => {
  let ground: ConsoleGround;
  let admin: ConsoleTab;
  /** Somebody whom the admin invites. */
  let guest: ConsoleTab;
  let secret: string;
  let codes: string[];

  beforeAll(async () => {
    ground = await startConsole();
    admin = await ground.enter('partner');
  });
  afterAll(() => ground?.stop());

  const member = (email: string) => admin.page.locator(`[data-testid="member"][data-email="${email}"]`);
  const atDesk = (page: Page) => page.getByTestId('desk').waitFor({ state: 'attached' });

  async function changeMember(email: string, change: string): Promise<void> {
    await member(email).getByTestId('member-menu').click();
    await admin.page.getByTestId(`member-${change}`).click();
  }
  async function confirmed(): Promise<void> {
    await admin.page.getByTestId('confirm').click();
    await admin.page.getByTestId('confirm').waitFor({ state: 'detached' });
  }
  async function signOut(page: Page): Promise<void> {
    await page.getByTestId('user-menu').click();
    await page.getByTestId('sign-out').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  }
  async function givePassword(page: Page, email: string, password = PASSWORD): Promise<void> {
    await page.getByTestId('email').fill(email);
    await page.getByTestId('password').fill(password);
    await page.getByTestId('sign-in').click();
  }

  /** The page that the link of a new invitation leads to. */
  async function invited(email: string, role: string): Promise<string> {
    await admin.goto('/partner/team');
    await admin.page.getByTestId('invite').click();
    await admin.page.getByTestId('invite-email').fill(email);
    await admin.page.getByTestId(`role-${role}`).click();
    expect(await admin.seriousFindings()).toEqual([]);
    await admin.page.getByTestId('send-invitation').click();
    const link = await admin.page.getByTestId('invitation-link').getAttribute('data-url');
    await admin.page.getByTestId('invitation-kept').click();
    const { pathname, hash } = new URL(link ?? '');
    return pathname.replace('/console', '') + hash;
  }

  it.each(DESKS)('one click of a sandbox enters the %s desk, and no other', async (desk) => {
    const tab = await ground.enter(desk);
    await tab.page.getByRole('heading', { level: 1 }).waitFor();
    const other = desk === 'operator' ? '/partner/orders' : '/operator/queue';
    await tab.goto(other);
    await tab.page.getByText('There is no such page').waitFor();
    await tab.context.close();
    expect(ground.complaints).toEqual([]);
  });

  it('leads to the sign-in where nobody is signed in, takes the password of sandbox.json, and tells nothing of a wrong one', async () => {
    const [account] = ground.gateway.sandbox.console;
    const tab = await ground.open('/operator/queue');
    await tab.page.getByTestId('email').fill(account?.email ?? '');
    await tab.page.getByTestId('password').fill('wrong');
    await tab.page.getByTestId('sign-in').click();
    await tab.page.locator('[data-code="SIGN_IN_FAILED"]').waitFor();
    await tab.page.getByTestId('password').fill(account?.password ?? '');
    await tab.page.getByTestId('sign-in').click();
    await tab.page.getByTestId('desk').waitFor();
    await tab.page.getByTestId('user-menu').click();
    await tab.page.getByTestId('sign-out').click();
    await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tab.context.close();
  });

  it('an invitation makes a user, whose password keeps the rules that are told beforehand', async () => {
    const link = await invited(WHO, 'admin');
    await admin.page.getByTestId('tab-invitations').click();
    await admin.page.locator(`[data-testid="open-invitation"][data-email="${WHO}"]`).waitFor();

    guest = await ground.open('/invitation#cw_invite_nothing');
    await guest.page.locator('[data-code="INVITATION_EXPIRED"]').waitFor();
    await guest.context.close();
    guest = await ground.open(link);
    await guest.page.getByTestId('name').fill('Grace Hopper');
    await guest.page.getByTestId('new-password').fill('short');
    expect(await guest.page.getByTestId('accept').isDisabled()).toBe(true);
    await guest.page.getByTestId('new-password').fill(PASSWORD);
    await guest.page.getByTestId('accept').click();
    await atDesk(guest.page);
  });

  it('an authenticator app is added, and its code signs in, back to where one was going', async () => {
    const { page } = guest;
    await guest.goto('/partner/account');
    await page.getByTestId('begin-totp').click();
    secret = (await page.getByTestId('totp-secret').textContent()) ?? '';
    await page.getByTestId('qr').waitFor();
    expect(await guest.seriousFindings()).toEqual([]);
    await page.getByTestId('confirm-code').fill('000000');
    await page.getByTestId('confirm-totp').click();
    await page.locator('[data-code="CREDENTIAL_INVALID"]').waitFor();
    await page.getByTestId('confirm-code').fill(totpCode(secret, totpStep(Date.now())));
    await page.getByTestId('confirm-totp').click();
    await page.getByTestId('recovery-codes').waitFor();
    codes = await page
      .locator('[data-testid="recovery-codes"] [data-code]')
      .evaluateAll((found) => found.map((one) => one.getAttribute('data-code') ?? ''));
    expect(new Set(codes).size).toBe(10);
    const saved = page.waitForEvent('download');
    await page.getByTestId('download-codes').click();
    expect((await saved).suggestedFilename()).toBe('causeway-recovery-codes.txt');
    await page.getByTestId('codes-kept').click();
    await page.locator('[data-testid="totp-part"] [data-on="true"]').waitFor();

    await signOut(page);
    await guest.goto('/partner/team?tab=roles');
    await givePassword(page, WHO);
    await page.getByTestId('totp-code').waitFor();
    await page.getByTestId('totp-code').fill('000000');
    await page.locator('[data-code="SIGN_IN_FAILED"]').waitFor();
    // The code of the next half minute is good already: clocks differ.
    await page.getByTestId('totp-code').fill(totpCode(secret, totpStep(Date.now()) + 1));
    await page.getByTestId('roles-matrix').waitFor();
    expect(new URL(page.url()).search).toBe('?tab=roles');
    expect(await page.locator('[data-cell="viewer keys.manage"]').getAttribute('data-may')).toBe('false');
  });

  it('a recovery code signs in once', async () => {
    const { page } = guest;
    await signOut(page);
    await givePassword(page, WHO);
    await page.getByTestId('other-code').click();
    await page.getByTestId('recovery-code').fill(codes[0] ?? '');
    await page.getByTestId('second-step').click();
    await atDesk(page);
    await guest.goto('/partner/account');
    await page.getByTestId('codes-left').waitFor();
    expect(await page.getByTestId('codes-left').textContent()).toBe('9 recovery codes left');
    const again = await ground.open('/sign-in');
    await givePassword(again.page, WHO);
    await again.page.getByTestId('other-code').click();
    await again.page.getByTestId('recovery-code').fill(codes[0] ?? '');
    await again.page.getByTestId('second-step').click();
    await again.page.locator('[data-code="SIGN_IN_FAILED"]').waitFor();
    await again.context.close();
  });

  it('a changed role is seen at once, and a viewer sees no button that it may not press', async () => {
    const { page } = guest;
    await guest.goto('/partner/team');
    await page.getByTestId('invite').waitFor();
    await admin.goto('/partner/team');
    await changeMember(WHO, 'role');
    await admin.page.getByTestId('role-viewer').click();
    expect(await admin.seriousFindings()).toEqual([]);
    await confirmed();
    await member(WHO).getByText('viewer').waitFor();

    // The page was drawn before: its button is refused, and then gone with all the others.
    await page.getByTestId('invite').click();
    await page.getByTestId('invite-email').fill('nobody@console.example');
    await page.getByTestId('send-invitation').click();
    await page.getByTestId('invite').waitFor({ state: 'detached' });
    await page.getByText('You are viewer').waitFor();
    for (const hidden of ['member-menu', 'tab-activity', 'withdraw']) {
      expect(await page.getByTestId(hidden).count()).toBe(0);
    }
    await guest.goto('/partner/team?tab=activity');
    await page.getByText('Only an admin sees who did what').waitFor();
  });

  it('what everybody did is on record, with filters in the address', async () => {
    const { page } = admin;
    await admin.goto('/partner/team?tab=activity&operation=inviteToTeam');
    await page.locator('[data-operation="inviteToTeam"]').first().waitFor();
    expect(await page.locator('[data-operation]:not([data-operation="inviteToTeam"])').count()).toBe(0);
    // Hers was refused.
    await page.getByTestId('activity').getByText('refused', { exact: false }).first().waitFor();
    await page.reload();
    await page.locator('[data-operation="inviteToTeam"]').first().waitFor();
  });

  it('a session that is ended elsewhere leads to the sign-in, and back after it', async () => {
    const { page } = guest;
    await guest.goto('/partner/account');
    await page.getByTestId('sessions-part').getByText('this one').waitFor();
    await admin.goto('/partner/team');
    await changeMember(WHO, 'sessions');
    await confirmed();
    await page.getByTestId('own-name').fill('Grace');
    await page.getByTestId('save-name').click();
    await page.getByTestId('session-over').waitFor();
    expect(new URL(page.url()).searchParams.get('next')).toBe('/partner/account');
    await changeMember(WHO, 'disable');
    await confirmed();
    await givePassword(page, WHO);
    await page.locator('[data-code="SIGN_IN_FAILED"]').waitFor();
    await guest.context.close();
  });

  it('who has forgotten the password is invited again, chooses a new one, and is asked for the second factor', async () => {
    const { page, context } = await ground.open(await invited(WHO, 'support'));
    await page.getByTestId('name').fill('Grace Hopper');
    await page.getByTestId('new-password').fill('another sentence that nobody guesses');
    await page.getByTestId('accept').click();
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    await page.getByTestId('other-code').click();
    await page.getByTestId('recovery-code').fill(codes[1] ?? '');
    await page.getByTestId('second-step').click();
    await atDesk(page);
    await admin.goto('/partner/team');
    await member(WHO).getByText('support').waitFor();
    expect(await member(WHO).getByText('disabled').count()).toBe(0);
    await context.close();
  });

  it('an address that was tried too often is told for how long it is locked', async () => {
    const body = { email: 'tried@console.example', password: 'wrong' };
    const attempt = () =>
      ground.gateway
        .call('POST', '/api/v1/console/sign-in', { key: null, body })
        .then(({ status }) => status);
    const answers = await Promise.all(Array.from({ length: 10 }, attempt));
    expect(answers).toContain(401);
    const tab = await ground.open('/sign-in', { colorScheme: 'dark' });
    await givePassword(tab.page, body.email, 'wrong');
    await tab.page.locator('[data-code="SIGN_IN_LOCKED"]').waitFor();
    expect(await tab.page.getByTestId('locked-for').textContent()).toContain('minutes');
    expect(await tab.seriousFindings()).toEqual([]);
    await tab.context.close();
  });

  it('a passkey is added, renamed, signs in and is removed', async () => {
    // Passkeys belong to a name, never to a number.
    const origin = ground.gateway.baseUrl.replace('127.0.0.1', 'localhost');
    const tab = await ground.open('/sign-in', { colorScheme: 'dark' });
    const { page, context } = tab;
    await page.addInitScript({
      content: `if (location.protocol === 'http:' && sessionStorage.getItem('offers') === null) {
        PublicKeyCredential.isConditionalMediationAvailable = async () => false;
      }`,
    });
    await page.goto(`${origin}/console/sign-in`);
    const browser = await context.newCDPSession(page);
    await browser.send('WebAuthn.enable');
    await browser.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    await page.locator('[data-testid="enter-vendor"]').first().click();
    await atDesk(page);
    await page.goto(`${origin}/console/vendor/account`);
    await page.getByTestId('add-passkey').click();
    await page.getByTestId('passkey-label').fill('Laptop');
    await page.getByTestId('create-passkey').click();
    await page.locator('[data-testid="passkey"][data-label="Laptop"]').waitFor();
    await page.getByTestId('rename-passkey').click();
    await page.getByTestId('rename-field').fill('Old laptop');
    await page.getByTestId('save-passkey').click();
    await page.locator('[data-testid="passkey"][data-label="Old laptop"]').waitFor();

    await signOut(page);
    await page.getByTestId('passkey-sign-in').click();
    await atDesk(page);
    // Where the browser can, it offers the passkey in the form: here the device agrees by itself.
    await signOut(page);
    await page.evaluate(() => sessionStorage.setItem('offers', 'yes'));
    await page.goto(`${origin}/console/sign-in`);
    await atDesk(page);
    await page.goto(`${origin}/console/vendor/account`);
    await page.getByTestId('sessions-part').getByText('by passkey').first().waitFor();
    await page.getByTestId('delete-passkey').click();
    await page.getByTestId('confirm').click();
    await page.getByTestId('passkey').waitFor({ state: 'detached' });
    await context.close();
    expect(ground.complaints).toEqual([]);
  });
});
