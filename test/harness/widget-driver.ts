import type { FrameLocator, Locator, Page } from 'playwright-core';
import type { RecordedCall } from './widget-pages.ts';

/** A customer at the widget: what is entered and pressed on each screen, by test ids. It waits for what is to be seen next. */
export interface WidgetDriver {
  readonly root: FrameLocator | Page;
  by(testId: string): Locator;
  /** Waits until this step is shown. */
  step(step: WidgetStep): Promise<void>;
  amount(choice: AmountChoice): Promise<void>;
  identify(email: string): Promise<void>;
  /** The code that the sandbox shows in the place of an e-mail. */
  enterCode(): Promise<void>;
  /** Fills in who the customer is, and uploads what is asked for. */
  verify(person?: Partial<Person>): Promise<void>;
  submitPerson(person?: Partial<Person>): Promise<void>;
  uploadDocuments(): Promise<void>;
  pasteWallet(address: string): Promise<void>;
  fillWallet(address: string): Promise<void>;
  connectWallet(rdns: string): Promise<void>;
  fillPayout(fields: Readonly<Record<string, string>>): Promise<void>;
  /** Lets the router take the crypto where it may not yet, and signs the transfer. */
  sign(): Promise<void>;
  /** Confirms the quote on the review screen and answers the order’s id. */
  confirm(): Promise<string>;
  /** Waits until the order on screen is in one of these phases, and answers which. */
  phase(...phases: readonly string[]): Promise<string>;
  orderId(): Promise<string>;
  /** Presses what asks once more before it is done, and says yes. */
  press(testId: 'i-have-paid' | 'cancel-order' | 'confirm-received'): Promise<void>;
}

export type WidgetStep =
  | 'unavailable'
  | 'orders'
  | 'amount'
  | 'identify'
  | 'verify'
  | 'destination'
  | 'review'
  | 'order';

export interface AmountChoice {
  readonly side?: 'onramp' | 'offramp';
  readonly fiatCurrency?: string;
  readonly country?: string;
  readonly rail?: string;
  readonly institution?: string;
  readonly fiat?: string;
  readonly crypto?: string;
}

export interface Person {
  readonly first_name: string;
  readonly last_name: string;
  readonly date_of_birth: string;
  readonly gender: string;
  readonly nationality: string;
  readonly id_type: string;
  readonly id_number: string;
  readonly id_issue_country: string;
  readonly address: string;
  readonly city: string;
  readonly postal_code: string;
  readonly country_code: string;
  readonly phone_number: string;
  readonly source_of_funds: string;
}

export const ADA: Person = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1990-12-10',
  gender: 'FEMALE',
  nationality: 'DE',
  id_type: 'PASSPORT',
  id_number: 'C01X00T47',
  id_issue_country: 'DE',
  address: 'Hauptstrasse 1',
  city: 'Berlin',
  postal_code: '10115',
  country_code: 'DE',
  phone_number: '+4915112345678',
  source_of_funds: 'SALARY',
};

/** The smallest picture that is one. */
export const DOCUMENT = {
  name: 'document.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
};

const SHOWN_MS = 30_000;

/** The widget in a page of a shop. */
export function embedded(page: Page, instance = 0): WidgetDriver {
  return widgetDriver(page.locator(`#place-${instance}`).locator('iframe').contentFrame());
}

/** The widget as a page of its own. */
export function hosted(page: Page): WidgetDriver {
  return widgetDriver(page);
}

/** What the page was told, in order. */
export function callsOf(page: Page): Promise<RecordedCall[]> {
  return page.evaluate('window.calls');
}

/** A list, a list with search, a choice or a text field: whatever the screen has for it. */
async function enter(field: Locator, value: string): Promise<void> {
  await field.waitFor({ timeout: SHOWN_MS });
  const { tag, role, chosen } = await field.evaluate((element) => {
    const { tagName, dataset } = element as unknown as { tagName: string; dataset: { value?: string } };
    return { tag: tagName, role: element.getAttribute('role'), chosen: dataset.value };
  });
  if (tag === 'SELECT') {
    await field.selectOption(value);
  } else if (role !== 'combobox') {
    await field.fill(value);
  } else if (chosen !== value) {
    await field.click();
    await field.locator(`xpath=following::*[@role="option" and @data-value="${value}"][1]`).click();
  }
}

function widgetDriver(root: FrameLocator | Page): WidgetDriver {
  const by = (testId: string) => root.getByTestId(testId);

  /** Enters what there is a field for: which ones are asked for depends on country and provider. */
  async function enterShown(prefix: string, values: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      const field = by(`${prefix}-${name}`);
      if ((await field.count()) > 0) await enter(field, value);
    }
  }

  const driver: WidgetDriver = {
    root,
    by,
    step: (step) => root.locator(`.widget[data-step="${step}"] h1`).waitFor({ timeout: SHOWN_MS }),

    async amount({ side, fiatCurrency, country, rail, institution, fiat, crypto }) {
      await driver.step('amount');
      if (side !== undefined) await by(`side-${side}`).click();
      if (country !== undefined) await enter(by('country'), country);
      if (fiatCurrency !== undefined) await enter(by('fiat-currency'), fiatCurrency);
      if (rail !== undefined) await enter(by('rail'), rail);
      if (institution !== undefined) await enter(by('institution'), institution);
      if (fiat !== undefined) await by('amount-fiat').fill(fiat);
      if (crypto !== undefined) await by('amount-crypto').fill(crypto);
      await by('estimate').waitFor({ timeout: SHOWN_MS });
      await by('continue').click();
    },

    async identify(email) {
      await driver.step('identify');
      await by('email').fill(email);
      await by('send-code').click();
      await driver.enterCode();
    },

    async enterCode() {
      const code = await by('sandbox-code').textContent({ timeout: SHOWN_MS });
      await by('code').fill(/\d{6}/.exec(code ?? '')?.[0] ?? '');
      await by('confirm-code').click();
    },

    async submitPerson(person = {}) {
      await driver.step('verify');
      const parts = root.locator('fieldset[data-step]');
      await parts.waitFor({ timeout: SHOWN_MS });
      // In parts, one after the other; the last one is sent.
      while ((await parts.count()) > 0) {
        const part = await parts.getAttribute('data-step');
        await enterShown('kyc', { ...ADA, ...person });
        await by('kyc-submit').click();
        await root.locator(`fieldset[data-step="${part}"]`).waitFor({ state: 'detached', timeout: SHOWN_MS });
      }
    },

    async uploadDocuments() {
      for (const type of ['ID_FRONT', 'ID_BACK', 'SELFIE', 'PROOF_OF_ADDRESS']) {
        const field = by(`document-${type}`);
        if ((await field.count()) === 0) continue;
        await field.setInputFiles(DOCUMENT);
        await field.waitFor({ state: 'detached', timeout: SHOWN_MS });
      }
    },

    async verify(person = {}) {
      await driver.submitPerson(person);
      await by('document-ID_FRONT').waitFor({ state: 'attached', timeout: SHOWN_MS });
      await driver.uploadDocuments();
    },

    async pasteWallet(address) {
      await driver.step('destination');
      await driver.fillWallet(address);
      await by('continue').click();
    },

    async fillWallet(address) {
      await by('wallet-address').fill(address);
      // A pasted address is the customer’s own word: it is confirmed.
      await root.locator('input[type="checkbox"]').check();
    },

    async connectWallet(rdns) {
      await driver.step('destination');
      await by('connect-wallet').click();
      await root.locator(`[data-testid="wallet-option"][data-rdns="${rdns}"]`).click();
    },

    async fillPayout(fields) {
      await driver.step('destination');
      for (const [name, value] of Object.entries(fields)) await enter(by(`payout-${name}`), value);
    },

    async sign() {
      await by('approve').or(by('sign-transfer')).first().waitFor({ timeout: SHOWN_MS });
      if ((await by('approve').count()) > 0) await by('approve').click();
      await by('sign-transfer').click({ timeout: SHOWN_MS });
    },

    async confirm() {
      await driver.step('review');
      await by('confirm-order').click();
      return driver.orderId();
    },

    async phase(...phases) {
      const selector = phases.map((phase) => `[data-testid="order"][data-phase="${phase}"]`).join(', ');
      const shown = root.locator(selector);
      await shown.waitFor({ timeout: 60_000 });
      return (await shown.getAttribute('data-phase')) ?? '';
    },

    async press(testId) {
      await by(testId).click();
      await by(`${testId}-yes`).click();
    },

    async orderId() {
      return (await by('order').getAttribute('data-order-id', { timeout: SHOWN_MS })) ?? '';
    },
  };
  return driver;
}
