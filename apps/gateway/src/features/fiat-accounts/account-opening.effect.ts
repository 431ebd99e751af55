import { FIAT_ACCOUNT_ACTIVE, fiatClientMachine, knowsTrigger } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { IntentPayload } from '../../engine/effects.ts';
import { execute } from '../../engine/execute.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { type RetrySchedule, schedule } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type BankClient,
  BankingError,
  type BankingPort,
  type ClientDecision,
  type OpenedAccount,
} from '../../ports/banking.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import { userKeyOwner } from '../users/user.ts';
import { type AccountCase, accountAdapter, clientAdapter } from './fiat-account.adapters.ts';
import {
  accountToOpen,
  bankUnavailable,
  type ClientRow,
  clientWithKey,
  lockAccount,
  lockClient,
  setAccountBankReference,
  setClientBankReference,
} from './fiat-account.store.ts';
import { accountContext } from './fiat-account.ts';
import { type ClientFields, clientContext, holderNameOf } from './identify-client.ts';

/** How workers deal with a bank that takes its time, is closed or says no. */

const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 10 * 60 * 1_000;

/** A bank is closed for a night or a weekend, never for ever. */
export const BANK_SCHEDULE: RetrySchedule = schedule([1, 5, 30, 120, 600], {
  maxAttempts: 2_000,
  jitterPct: 20,
});

/** The longer it has taken, the longer it may take. */
export function lookAgain(clock: Clock, { createdAt }: Pick<Intent, 'createdAt'>): Outcome {
  const age = clock.now() - createdAt.getTime();
  return { kind: 'waiting', afterMs: Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 4)) };
}

/** Asks the bank; what it refuses is told apart from what it could not do now. Anything else is a fault of ours. */
export async function askBank<T>(
  ask: () => Promise<T>,
): Promise<{ readonly answer: T } | { readonly refused: string } | { readonly unavailable: string }> {
  try {
    return { answer: await ask() };
  } catch (error) {
    if (!(error instanceof BankingError)) throw error;
    return error.failure === 'refused' ? { refused: error.message } : { unavailable: error.message };
  }
}

export interface OpenAccountDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly vaults: Vaults;
  readonly bank: BankingPort;
}

interface Opening {
  readonly opened: OpenedAccount;
  readonly holderName: string;
  readonly vault: Vault;
}

/** Opens an account at the bank, once by its key, and waits until it can be paid into. */
export function openAccountHandler(deps: OpenAccountDeps): IntentHandler<'bank.open-account'> {
  async function carryOut(intent: Intent<'bank.open-account'>): Promise<Outcome> {
    const { seal_id: sealId } = intent.payload;
    const [account] = await deps.db.query(SYSTEM, accountToOpen, [sealId]);
    if (account === undefined || account.status === FIAT_ACCOUNT_ACTIVE) {
      return { kind: 'confirmed', result: 'nothing to do' };
    }
    const vault = deps.vaults.open(account.data_key_sealed, userKeyOwner(account.user_id));
    const fields = vault.open(account.fields_sealed, clientContext(account.user_id, account.round));
    const holderName = holderNameOf(JSON.parse(fields) as ClientFields);
    const asked = await askBank(async () => {
      if (account.bank_reference !== null) return deps.bank.readAccount(account.bank_reference);
      const { reference } = await deps.bank.openAccount({
        key: sealId,
        clientReference: account.client_reference ?? '',
        holderName,
        currency: account.currency,
        jurisdiction: account.jurisdiction,
      });
      await deps.db.query(SYSTEM, setAccountBankReference, [sealId, reference, deps.clock.date()]);
      return null;
    });
    if ('unavailable' in asked) {
      await deps.db.query(SYSTEM, bankUnavailable, [sealId, deps.clock.date()]);
      return { kind: 'retry', error: asked.unavailable };
    }
    if ('refused' in asked) {
      return {
        kind: 'failed',
        error: asked.refused,
        followUp: (unit) => moveOpening(unit, sealId, 'opening_failed', 'bank'),
      };
    }
    const { answer: opened } = asked;
    if (opened === null) return lookAgain(deps.clock, intent);
    return {
      kind: 'confirmed',
      followUp: (unit) => activate(unit, sealId, { opened, holderName, vault }),
    };
  }

  return {
    schedule: BANK_SCHEDULE,
    perform: carryOut,
    exhausted: (intent, unit) => moveOpening(unit, intent.payload.seal_id, 'opening_failed', 'system'),
  };
}

function activate(unit: UnitOfWork, sealId: string, { opened, holderName, vault }: Opening): Promise<void> {
  const { iban, bankName, bic } = opened;
  const details = { iban, account_holder_name: holderName };
  const detailsSealed = vault.seal(JSON.stringify(details), accountContext(sealId));
  return moveOpening(unit, sealId, 'account_opened', 'bank', { detailsSealed, bankName, bic });
}

/** A report that the account’s status does not know changes nothing. */
async function moveOpening(
  unit: UnitOfWork,
  sealId: string,
  trigger: 'account_opened' | 'opening_failed',
  actor: 'bank' | 'system',
  opened?: AccountCase['opened'],
): Promise<void> {
  const [account] = await unit.tx.query(lockAccount, [sealId]);
  if (account === undefined) return;
  execute(unit, accountAdapter, { account, ...(opened === undefined ? {} : { opened }) }, trigger, actor);
}

export interface SubmitClientDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly vaults: Vaults;
  readonly bank: BankingPort;
}

type SubmitClientPayload = IntentPayload<'bank.submit-client'>;

const NOT_TAKEN = 'NOT_TAKEN_BY_BANK';

/** Introduces a customer to the bank and waits for what it says. Introducing one again, by the same key, is harmless. */
export function submitClientHandler(deps: SubmitClientDeps): IntentHandler<'bank.submit-client'> {
  async function carryOut(intent: Intent<'bank.submit-client'>): Promise<Outcome> {
    const { user_id: userId, round } = intent.payload;
    const [client] = await deps.db.query(SYSTEM, clientWithKey, [userId]);
    if (client === undefined || client.round !== round || isDecided(client)) {
      return { kind: 'confirmed', result: 'nothing to do' };
    }
    const asked = await askBank(() => introduceOrLook(client));
    if ('unavailable' in asked) return { kind: 'retry', error: asked.unavailable };
    if ('refused' in asked) {
      const refused: ClientDecision = { outcome: 'rejected', reasons: [NOT_TAKEN] };
      return {
        kind: 'failed',
        error: asked.refused,
        followUp: (unit) => record(unit, intent.payload, refused),
      };
    }
    const { answer } = asked;
    if (answer === null) return lookAgain(deps.clock, intent);
    return { kind: 'confirmed', followUp: (unit) => record(unit, intent.payload, answer) };
  }

  async function introduceOrLook(
    client: ClientRow & { data_key_sealed: string },
  ): Promise<ClientDecision | null> {
    if (client.bank_reference !== null) return deps.bank.readClient(client.bank_reference);
    const vault = deps.vaults.open(client.data_key_sealed, userKeyOwner(client.user_id));
    const text = vault.open(client.fields_sealed, clientContext(client.user_id, client.round));
    const { reference } = await deps.bank.submitClient(
      bankClientOf(`${client.user_id}:${client.round}`, JSON.parse(text) as ClientFields),
    );
    await deps.db.query(SYSTEM, setClientBankReference, [client.user_id, client.round, reference]);
    return null;
  }

  return { schedule: BANK_SCHEDULE, perform: carryOut };
}

function isDecided({ status }: ClientRow): boolean {
  return !knowsTrigger(fiatClientMachine, status, 'client_approved');
}

async function record(
  unit: UnitOfWork,
  { user_id: userId, round }: SubmitClientPayload,
  decision: ClientDecision,
): Promise<void> {
  const [client] = await unit.tx.query(lockClient, [userId, round]);
  if (client === undefined) return;
  const one = { userId, partnerId: client.partner_id, client };
  if (decision.outcome === 'approved') execute(unit, clientAdapter, one, 'client_approved', 'bank');
  else execute(unit, clientAdapter, { ...one, reasons: decision.reasons }, 'client_rejected', 'bank');
}

function bankClientOf(key: string, fields: ClientFields): BankClient {
  return {
    key,
    firstName: fields.first_name,
    lastName: fields.last_name,
    dateOfBirth: fields.date_of_birth,
    nationality: fields.nationality,
    address: fields.address,
    city: fields.city,
    postalCode: fields.postal_code,
    countryCode: fields.country_code,
    phoneNumber: fields.phone_number,
  };
}
