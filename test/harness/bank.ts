import { createIntentWorker } from '../../apps/gateway/src/engine/intent-worker.ts';
import { bankingHandlers } from '../../apps/gateway/src/features/fiat-accounts/payments.effect.ts';
import type { TestGateway } from './gateway.ts';

/** Carries out what is asked of the bank, and nothing else: for gateways without a worker, whose other work waits. */
export function startBank({ deps }: TestGateway): { stop(): Promise<void> } {
  const worker = createIntentWorker(deps, bankingHandlers(deps), { concurrency: 8, pollMs: 50 });
  deps.listener.on('intents_written', () => worker.wake());
  worker.start();
  return { stop: () => worker.stop() };
}

/** The second partner of a sandbox is not enabled for fiat accounts; the operator changes that. */
export async function enableFiatAccounts(
  gateway: TestGateway,
  partner: 0 | 1,
  changes: object = { fiat_accounts_enabled: true },
): Promise<void> {
  const owner = await gateway.deps.principals.find(gateway.partners[partner].apiKey);
  const { partnerId } = owner as { partnerId: string };
  const answer = await gateway.call('PATCH', `/api/v1/operator/partners/${partnerId}`, {
    key: gateway.sandbox.operatorKey,
    body: { ...changes, reason: 'a test' },
  });
  if (answer.status !== 200) throw new Error(`the partner was not changed: ${answer.text}`);
}
