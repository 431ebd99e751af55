import type { TestGateway } from '../harness/gateway.ts';
import { accountSteps, webhookEndpointSteps, webhookSteps } from './account-steps.ts';
import { customerSteps, fiatAccountSteps, recipientSteps, screeningCaseSteps } from './customer-steps.ts';
import type { ExampleRun } from './example-run.ts';
import { orderSteps } from './order-steps.ts';
import { widgetOrderSteps } from './widget-order-steps.ts';
import { widgetSteps } from './widget-steps.ts';

/** Calls every operation of the API on a fresh sandbox, with orders in every situation that one of them needs. */
export async function sendEveryOperation(gateway: TestGateway, run: ExampleRun): Promise<void> {
  await run.send('setSandboxSettings');
  await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
  const customer = await customerSteps(gateway, run);
  const orders = orderSteps(gateway, run, customer);
  const accountHolder = await orders.user();
  // Most of the time is spent waiting for the chain.
  await Promise.all([
    orders.onramp().then(orders.otherOnramps),
    orders.offramp().then(orders.settledByProvider),
    orders.disputesAndRefunds(),
    orders.deposits(),
    orders.approvals(),
    recipientSteps(gateway, run).then(() => screeningCaseSteps(gateway, run, customer.user_uuid)),
    accountSteps(gateway, run),
    widgetSteps(gateway, run, customer.user_uuid),
    fiatAccountSteps(gateway, run, accountHolder, (user_uuid) => orders.locked({ user_uuid })),
  ]);
  // After those that take vendors and offers away for a moment.
  await widgetOrderSteps(gateway, run);
  await run.send('sandboxFaucet');
  await webhookEndpointSteps(gateway, run, () => orders.locked());
  await webhookSteps(gateway, run);
  await orders.settledElsewhere();
  await orders.effects();
  await orders.overdueSendOut();
  await run.send('sandboxResetClock');
  // The others read what needs nothing made before.
  for (const { operationId, method, path } of run.routes) {
    if (run.answers.has(operationId) || method !== 'GET') continue;
    const query: Record<string, string> = path.endsWith('/payment-rails') ? { country: 'GH' } : {};
    await run.send(operationId, { query });
  }
}
