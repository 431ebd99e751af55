import type { TestGateway } from '../harness/gateway.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import { orderParties } from '../scenarios/orders-parties.ts';
import { widgetPeople } from '../scenarios/widget-customer.ts';
import type { ExampleRun } from './example-run.ts';

/** A customer at the widget with a wallet of its own: bought, sold, refunded, and paid after a dispute. */
export async function widgetOrderSteps(gateway: TestGateway, { send }: ExampleRun): Promise<void> {
  const people = widgetPeople(gateway, ...gateway.partners);
  const driver = ordersDriver(gateway);
  const userId = await people.userId();
  const ada = await people.arrive({ partner_fee_pct: '1', locked: false }, { userId, usdc: 500_000_000n });
  const { token: key, wallet: wallet_address } = ada;
  const paymentDetails = await driver.ownDetails(userId);

  async function locked(fields: object = {}): Promise<string> {
    const { order_id } = await ada.open('onramp', fields);
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(order_id, event);
    return order_id;
  }

  async function buying(): Promise<void> {
    await send('estimateInWidget', { key });
    const { quote_id } = await ada.quote('onramp');
    await send('openWidgetOrder', { key, body: { quote_id } });
    const bought = { key, params: { order_id: await locked() } };
    await send('confirmPaymentSentInWidget', bought);
    await send('cancelWidgetOrder', { key, params: { order_id: await locked() } });
    const cad = { fiat_currency: 'CAD', payment_network_slug: 'interac-canada' };
    await send('submitPayerDetailsInWidget', { key, params: { order_id: await locked(cad) } });
    await driver.event(bought.params.order_id, 'dispute_opened');
    await orderParties(gateway).operate(bought.params.order_id, 'dispute', { decision: 'for_buyer' });
    await send('getWidgetReleaseAuthorizationParameters', bought);
    const released = await ada.signedPayout(bought.params.order_id, 'release');
    await send('authorizeReleaseInWidget', { ...bought, body: { signature: released.signature } });
  }

  async function sell(): Promise<{ key: string; params: { order_id: string } }> {
    const { quote_id } = await send('quoteInWidget', { key, body: { payment_details_id: paymentDetails } });
    const { body: opened } = await ada.ask('POST', '/orders', { quote_id, wallet_address });
    const { order_id } = opened.data;
    const sold = { key, params: { order_id } };
    await ada.asked(order_id, 'sign');
    await send('getWidgetOrderFunding', sold);
    await ada.approve(order_id);
    await send('getWidgetTransferAuthorizationParameters', sold);
    const transfer = (await ada.signedTransfer(order_id)) as Record<string, unknown>;
    await send('authorizeCryptoTransferInWidget', { ...sold, body: transfer });
    await driver.reaches(order_id, 'crypto_received');
    return sold;
  }

  async function selling(): Promise<void> {
    const sold = await sell();
    const { order_id } = sold.params;
    for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
      await driver.event(order_id, event);
    }
    await send('confirmFiatReceivedInWidget', sold);
    await ada.asked(order_id, 'completed');
    await send('getWidgetOrder', sold);
    const stopped = await sell();
    await ada.act(stopped.params.order_id, 'cancel');
    await send('getWidgetRefundAuthorizationParameters', stopped);
    const refund = await ada.signedPayout(stopped.params.order_id, 'refund');
    await send('authorizeRefundInWidget', { ...stopped, body: { signature: refund.signature } });
  }

  await buying();
  await selling();
  await send('listWidgetOrders', { key });
}
