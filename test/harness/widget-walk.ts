import type { Causeway, SandboxOrderEventInput } from '@causeway/sdk';
import type { WidgetDriver } from './widget-driver.ts';
import type { InjectedWallet } from './widget-wallet.ts';

/** What a walk through the screens needs: who walks, and the sandbox, whose actors wait for a word. */
export interface Walk {
  readonly sdk: Causeway;
  readonly widget: WidgetDriver;
  readonly email: string;
  /** Looks at the screen that is shown now. */
  look(name: string): Promise<void>;
}

export const PAYOUT = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };

type Event = SandboxOrderEventInput['event'];

const happen = ({ sdk }: Walk, orderId: string, ...events: readonly Event[]) =>
  events.reduce<Promise<unknown>>(
    (before, event) => before.then(() => sdk.sandbox.orderEvent(orderId, { event })),
    Promise.resolve(),
  );

/** The simulated actors of the sandbox act by themselves, or wait. */
export const simulate = ({ sdk }: Pick<Walk, 'sdk'>, isOn: boolean) =>
  sdk.sandbox.setSettings({ auto_advance: isOn });

/** Vendors that are programs tell by themselves that they have paid; without them the customer is asked. */
export async function withoutPrograms(operator: Causeway): Promise<void> {
  for await (const { vendor_id: vendorId, kind } of operator.operator.vendors.list()) {
    if (kind === 'direct')
      await operator.operator.vendors.update(vendorId, {
        active: false,
        reason: 'customers are to be asked',
      });
  }
}

/** Every screen of a purchase by a new customer: the widget is at the amount, in euros, with one filled in. */
export async function walkOnramp(walk: Walk, wallet: string): Promise<void> {
  const { widget, look } = walk;
  await widget.step('amount');
  await widget.by('estimate').waitFor();
  await look('amount');
  await widget.by('continue').click();
  await widget.step('identify');
  await look('identify');
  await widget.by('email').fill(walk.email);
  await widget.by('send-code').click();
  await widget.by('sandbox-code').waitFor();
  await look('code');
  await widget.enterCode();
  await widget.step('verify');
  await widget.by('kyc-first_name').waitFor();
  await look('verify');
  await widget.submitPerson();
  await widget.by('document-ID_FRONT').waitFor({ state: 'attached' });
  await look('documents');
  await simulate(walk, true);
  await widget.uploadDocuments();
  await widget.step('destination');
  await simulate(walk, false);
  await widget.fillWallet(wallet);
  await look('destination');
  await widget.by('continue').click();
  await widget.step('review');
  await look('review');
  const orderId = await widget.confirm();
  await widget.phase('match');
  await look('match');
  await happen(walk, orderId, 'vendor_accepts', 'escrow_funded');
  await widget.phase('pay');
  await look('pay');
  await widget.press('i-have-paid');
  await widget.phase('settle');
  await look('settle');
  await happen(walk, orderId, 'vendor_confirms_fiat');
  await widget.phase('completed');
  await look('completed');
  await widget.by('my-orders').click();
  await widget.step('orders');
  await widget.by('order-line').first().waitFor();
  await look('orders');
}

/** Every screen of a sale by a verified customer whose wallet is in the browser, and of one that stops. */
export async function walkOfframp(walk: Walk, wallet: InjectedWallet): Promise<void> {
  const { widget, look } = walk;
  await widget.step('amount');
  await widget.by('estimate').waitFor();
  await look('amount');
  await widget.by('continue').click();
  await widget.identify(walk.email);
  await widget.connectWallet(wallet.rdns);
  await widget.fillPayout(PAYOUT);
  await look('destination');
  await widget.by('continue').click();
  await widget.step('review');
  await look('review');
  const sold = await widget.confirm();
  await widget.phase('sign');
  await widget.by('approve').waitFor();
  await look('sign');
  await widget.sign();
  await widget.phase('settle');
  await look('settle');
  await happenOnceFunded(walk, sold, 'buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted');
  await widget.phase('confirm');
  await look('confirm');
  await widget.press('confirm-received');
  await widget.phase('completed');
  await look('completed');
}

/** Events that need the deposit to be final: tried until the chain has it. */
async function happenOnceFunded(walk: Walk, orderId: string, ...events: readonly Event[]): Promise<void> {
  await walk.widget.root.locator('[data-testid="order"][data-status="crypto_received"]').waitFor();
  await happen(walk, orderId, ...events);
}

/** A verified customer with a wallet in the browser, from the amount to the review of a sale. */
async function toReviewOfSale({ widget, email }: Walk, wallet: InjectedWallet): Promise<void> {
  await widget.amount({});
  await widget.identify(email);
  await widget.connectWallet(wallet.rdns);
  await widget.fillPayout(PAYOUT);
  await widget.by('continue').click();
}

/** A sale that stops after the crypto was locked, until it is back. */
export async function walkRefund(walk: Walk, wallet: InjectedWallet): Promise<void> {
  const { widget, look } = walk;
  await toReviewOfSale(walk, wallet);
  const orderId = await widget.confirm();
  await widget.phase('sign');
  await widget.sign();
  await happenOnceFunded(walk, orderId, 'escrow_error');
  await widget.phase('refund');
  await look('refund');
  await widget.by('sign-refund').click();
  await widget.phase('stopped');
  await look('stopped');
}

/** A purchase of a verified customer whose payment never arrived. */
export async function walkDispute(walk: Walk, wallet: string): Promise<void> {
  const { widget, look } = walk;
  await widget.amount({});
  await widget.identify(walk.email);
  await widget.pasteWallet(wallet);
  const orderId = await widget.confirm();
  await happen(walk, orderId, 'vendor_accepts', 'escrow_funded');
  await widget.phase('pay');
  await widget.press('i-have-paid');
  await widget.phase('settle');
  await happen(walk, orderId, 'dispute_opened');
  await widget.phase('disputed');
  await look('disputed');
}
