import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

describe.skipIf(consoleBrowser === undefined)('what the console’s lists are asked for', () => {
  let ground: ConsoleGround;

  beforeAll(async () => {
    ground = await startConsole();
  }, 120_000);
  afterAll(() => ground?.stop());

  /** The parameters of the call that a page makes. */
  async function asked({ page, goto }: ConsoleTab, path: string, call: RegExp): Promise<URLSearchParams> {
    const [request] = await Promise.all([page.waitForRequest(call), goto(path)]);
    return new URL(request.url()).searchParams;
  }

  it('is a text as it is typed, with pauses: a space at its end stays in the field', async () => {
    const { page, context, goto } = await ground.enter('partner');
    const isAsked = (text: string | null) =>
      page.waitForURL((url) => url.searchParams.get('reference_id') === text);
    await goto('/partner/orders');
    const field = page.getByTestId('filter-reference_id');
    await field.pressSequentially('an ');
    await isAsked('an');
    expect(await field.inputValue()).toBe('an ');
    await field.pressSequentially('order');
    await isAsked('an order');
    expect(await field.inputValue()).toBe('an order');
    // What else changes the address changes the field.
    await page.getByRole('button', { name: 'Clear' }).click();
    await isAsked(null);
    expect(await field.inputValue()).toBe('');
    await context.close();
  });

  it('is the whole last day, where it has 23 hours and where it has 25', async () => {
    const tab = await ground.enter('partner', { timezoneId: 'Europe/Berlin' });
    const spring = await asked(
      tab,
      '/partner/orders?created_from=2026-03-29&created_to=2026-03-29',
      /\/api\/v1\/partner\/orders\?.*created_to/,
    );
    expect([spring.get('created_from'), spring.get('created_to')]).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ]);
    const autumn = await asked(
      tab,
      '/partner/team?tab=activity&from=2026-10-25&to=2026-10-25',
      /\/api\/v1\/console\/activity\?.*to=/,
    );
    expect([autumn.get('from'), autumn.get('to')]).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ]);
    await tab.context.close();
  });

  it('is the viewer’s day at the beginning of a partner’s numbers', async () => {
    // At every moment one of them has another day than UTC, and none ever moves its clock.
    for (const [timezoneId, hours] of [
      ['Pacific/Kiritimati', 14],
      ['Pacific/Pago_Pago', -11],
    ] as const) {
      const tab = await ground.enter('partner', { timezoneId });
      // Who enters is on this page, and it asks for a period of its own first.
      await tab.page.getByTestId('figure-orders').waitFor();
      const parameters = await asked(tab, '/partner/home?period=7d', /\/api\/v1\/.*statistics\?/);
      expect(parameters.get('time_zone')).toBe(timezoneId);
      const day = (daysAgo: number) =>
        new Date(Date.now() + hours * HOUR_MS - daysAgo * DAY_MS).toISOString().slice(0, 10);
      // Midnight may pass while it is asked.
      expect([day(6), day(7)]).toContain(parameters.get('from'));
      await tab.page.getByTestId('figure-orders').waitFor();
      await tab.context.close();
    }
    expect(ground.complaints).toEqual([]);
  });
});
