import { DESKS } from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleSubjects, furnish } from '../../scripts/demo/console-subjects.ts';
import { type ConsoleGround, consoleBrowser, startConsole } from '../harness/console.ts';
import { addressOf, consoleScreens, settled } from '../harness/console-screens.ts';

const PHONE = { width: 390, height: 844 };

describe.skipIf(consoleBrowser === undefined)('the console on a phone', () => {
  let ground: ConsoleGround;
  let subjects: ConsoleSubjects;
  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    const { sandbox, partners, sdk } = ground.gateway;
    subjects = await furnish(
      sdk(partners[0].apiKey),
      sdk(sandbox.operatorKey),
      sandbox.vendors.map(({ apiKey }) => sdk(apiKey)),
    );
  }, 120_000);
  afterAll(() => ground?.stop());

  it.each(DESKS)(
    'no page of the %s desk scrolls sideways',
    async (desk) => {
      const { page, context, goto } = await ground.enter(desk, { viewport: PHONE });
      const wide: string[] = [];
      const screens = consoleScreens().filter((screen) => screen.desk === desk);
      for (const { path } of [...screens, { path: 'account' }]) {
        await goto(`/${desk}/${addressOf(path, { ...subjects })}`);
        await settled(page);
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (width > PHONE.width) wide.push(`${path}: ${width}`);
      }
      expect(wide).toEqual([]);
      expect(ground.complaints).toEqual([]);
      await context.close();
    },
    120_000,
  );

  it('everything in the top bar is within the window: environment, search with what it finds, account and sign-out', async () => {
    const { page, context, seriousFindings } = await ground.enter('partner', { viewport: PHONE });
    const isWithin = async (id: string) => {
      const box = (await page.getByTestId(id).boundingBox()) ?? { x: -1, width: 0 };
      return box.x >= 0 && box.width > 0 && box.x + box.width <= PHONE.width;
    };
    for (const id of ['environment', 'search', 'theme', 'user-menu']) {
      expect([id, await isWithin(id)]).toEqual([id, true]);
    }
    expect(await page.getByTestId('environment').innerText()).toMatch(/^sandbox$/i);
    await page.getByTestId('search').fill('nothing-is-called-that');
    await page.keyboard.press('Enter');
    await page.getByTestId('search-nothing').waitFor();
    expect(await isWithin('search-results')).toBe(true);
    expect(await seriousFindings()).toEqual([]);
    await page.getByTestId('user-menu').click();
    expect(await isWithin('menu-account')).toBe(true);
    await page.getByTestId('sign-out').click();
    await page.getByTestId('enter-partner').first().waitFor();
    await context.close();
  });

  it('a form that is refused says all that is wrong with it, and brings that into the window with the focus', async () => {
    const { page, context, goto, seriousFindings } = await ground.enter('partner', {
      viewport: { width: 390, height: 600 },
    });
    await goto('/partner/customers');
    await page.getByTestId('create-customer').click();
    const wrong = {
      email: 'ada@example.com',
      first_name: 'n'.repeat(300),
      last_name: 'n'.repeat(300),
      country_code: 'Germany',
      reference_id: 'r'.repeat(300),
    };
    for (const [name, value] of Object.entries(wrong)) await page.getByTestId(`customer-${name}`).fill(value);
    await page.getByTestId('create-customer-submit').click();
    const fault = (path: string) => page.locator(`[data-fault="${path}"]`);
    await fault('reference_id').waitFor();
    for (const path of ['first_name', 'last_name', 'country_code', 'reference_id']) {
      expect([path, await fault(path).count()]).toEqual([path, 1]);
    }
    const refusal = page.getByTestId('refusal');
    expect(await refusal.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    const { y = 0 } = (await fault('first_name').boundingBox()) ?? {};
    expect(y > 0 && y < 600).toBe(true);
    const dialog = page.getByRole('dialog');
    expect(await dialog.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    expect(await seriousFindings()).toEqual([]);
    await context.close();
  });
});
