import { DESKS } from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, consoleBrowser, startConsole } from '../harness/console.ts';

describe.skipIf(consoleBrowser === undefined)('the frame of the console', () => {
  let ground: ConsoleGround;
  beforeAll(async () => {
    ground = await startConsole();
  });
  afterAll(() => ground?.stop());

  it.each(DESKS)(
    'one click of a sandbox enters the %s desk, without a complaint of its policy',
    async (desk) => {
      const tab = await ground.enter(desk);
      await tab.page.getByRole('heading', { level: 1 }).waitFor();
      expect(await tab.seriousFindings()).toEqual([]);
      expect(ground.complaints).toEqual([]);
      await tab.context.close();
    },
  );

  it('leads to the sign-in where nobody is signed in, and to nobody else’s desk', async () => {
    const stranger = await ground.open('/operator/queue');
    await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await stranger.context.close();
    const tab = await ground.enter('partner');
    await tab.goto('/operator/queue');
    await tab.page.getByText('There is no such page').waitFor();
    await tab.context.close();
  });

  it('takes the password of sandbox.json, and tells nothing of a wrong one', async () => {
    const [account] = ground.gateway.sandbox.console;
    const tab = await ground.open('/sign-in');
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
});
