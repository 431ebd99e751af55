import { setTimeout as sleep } from 'node:timers/promises';
import {
  CausewayError,
  FIAT_ACCOUNT_ACTIVE,
  FIAT_PAYMENT_COLLECTED,
  FiatAccountParams,
  parsePositiveAmount,
  SandboxDepositInput,
  SandboxDepositSchema,
  testOutcomeOf,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope, type Scope } from '../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import type { SimulatedBank } from '../../upstream/banking/simulated-bank.ts';
import { paymentView } from './fiat-account.routes.ts';
import { accountIdOf, loadAccount } from './fiat-account.ts';
import { findPayment, type PaymentRow } from './fiat-payment.store.ts';
import { type DepositDeps, takeDeposit } from './payments.ts';

export interface SandboxDepositDeps extends UnitDeps, DepositDeps {
  readonly simulatedBank: SimulatedBank;
}

const COLLECTED_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/** Registered by sandbox deployments only: a simulated deposit into a customer's account. */
export function registerSandboxDepositRoute(app: FastifyInstance, deps: SandboxDepositDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/users/:user_uuid/fiat-accounts/:id/deposits',
    operationId: 'sandboxDeposit',
    tag: 'Sandbox',
    summary: 'Simulate a deposit into a fiat account',
    description:
      'Handled like a report of the bank. Where the deposit is collected, the answer waits for that. The same transaction_id is the same transfer.',
    params: FiatAccountParams,
    body: SandboxDepositInput,
    data: SandboxDepositSchema,
    errors: ['USER_NOT_FOUND', 'FIAT_ACCOUNT_NOT_FOUND', 'PROVISIONING_IN_PROGRESS'],
    handle: async ({ params, body }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const { account, vault } = await loadAccount(deps, scope, params.user_uuid, params.id);
      const asset = { code: account.currency, decimals: account.currency_decimals };
      const amount = parsePositiveAmount(body.amount, asset);
      if (!amount.ok) throw invalidRequest('amount', `is not a valid amount (${amount.reason})`);
      if (account.status !== FIAT_ACCOUNT_ACTIVE || account.bank_reference === null) {
        throw new CausewayError('PROVISIONING_IN_PROGRESS');
      }
      const { sender_name: senderName = '' } = body;
      const flagged = testOutcomeOf('deposit_sender_name', (value) => senderName.startsWith(value));
      const transfer = {
        // Of this account alone, whatever ids the users of a sandbox think of.
        transactionId: `sandbox:${account.account_number}:${body.transaction_id ?? deps.ids.uuid()}`,
        accountReference: account.bank_reference,
        currency: account.currency,
        amount: amount.value.atomic,
        senderName: body.sender_name ?? null,
        reference: body.reference ?? null,
        forReview: flagged === 'deposit_held',
      };
      const taken = await unitOfWork(deps, scope, (unit) => takeDeposit(deps, unit, transfer));
      if (taken === undefined) throw new CausewayError('FIAT_ACCOUNT_NOT_FOUND');
      // The bank reports it too, as banks do: more than once.
      await deps.simulatedBank.receive(transfer);
      const payment = await settled(deps, scope, taken);
      return {
        ...paymentView(vault, payment),
        user_id: payment.user_id,
        fiat_account_id: accountIdOf(payment.account_number),
      };
    },
  });
}

/** What a caller would otherwise have to poll for. */
async function settled({ db }: UnitDeps, scope: Scope, taken: PaymentRow): Promise<PaymentRow> {
  let payment = taken;
  for (let waited = 0; waited < COLLECTED_WITHIN_MS; waited += LOOK_AGAIN_MS) {
    if (payment.settlement_id === null || payment.status === FIAT_PAYMENT_COLLECTED) return payment;
    await sleep(LOOK_AGAIN_MS);
    const [found] = await db.query(scope, findPayment, [taken.payment_id]);
    payment = found ?? payment;
  }
  return payment;
}
