import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BankClient, BankingPort, ClientDecision } from '../../upstream/banking.port.ts';
import type { Vaults } from '../privacy/vault.ts';
import { userKeyOwner } from '../users/load-user.ts';
import { askBank, BANK_SCHEDULE, lookAgain } from './bank-patience.ts';
import { type ClientFields, clientContext } from './client-fields.ts';
import { type ClientRow, clientWithKey, decideClient, nameClient } from './fiat-client.store.ts';
import { SUBMIT_CLIENT } from './identify-client.ts';

export interface SubmitClientTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly vaults: Vaults;
  readonly bank: BankingPort;
}

type Payload = { readonly user_id: string; readonly round: number };

const NOT_TAKEN = 'NOT_TAKEN_BY_BANK';

/** Introduces a customer to the bank and waits for what it says. Introducing one again, by the same key, is harmless. */
export function submitClientHandler(tools: SubmitClientTools): IntentHandler<Payload> {
  async function carryOut(intent: Intent<Payload>): Promise<Outcome> {
    const { user_id: userId, round } = intent.payload;
    const [client] = await tools.db.query(SYSTEM, clientWithKey, [userId]);
    if (client === undefined || client.round !== round || client.status !== 'pending') {
      return { kind: 'confirmed', result: 'nothing to do' };
    }
    const asked = await askBank(() => introduceOrLook(client));
    if ('unavailable' in asked) return { kind: 'retry', error: asked.unavailable };
    if ('refused' in asked) {
      const refused: ClientDecision = { outcome: 'rejected', reasons: [NOT_TAKEN] };
      return {
        kind: 'failed',
        error: asked.refused,
        followUp: async (unit) => record(unit, intent.payload, refused),
      };
    }
    const { answer } = asked;
    if (answer === null) return lookAgain(tools.clock, intent);
    return { kind: 'confirmed', followUp: async (unit) => record(unit, intent.payload, answer) };
  }

  async function introduceOrLook(
    client: ClientRow & { data_key_sealed: string },
  ): Promise<ClientDecision | null> {
    if (client.bank_reference !== null) return tools.bank.readClient(client.bank_reference);
    const vault = tools.vaults.open(client.data_key_sealed, userKeyOwner(client.user_id));
    const text = vault.open(client.fields_sealed, clientContext(client.user_id, client.round));
    const { reference } = await tools.bank.submitClient(
      bankClientOf(`${client.user_id}:${client.round}`, JSON.parse(text) as ClientFields),
    );
    await tools.db.query(SYSTEM, nameClient, [client.user_id, client.round, reference]);
    return null;
  }

  return { kind: SUBMIT_CLIENT, schedule: BANK_SCHEDULE, perform: carryOut, reconcile: carryOut };
}

function record(unit: UnitOfWork, { user_id, round }: Payload, decision: ClientDecision): void {
  const reasons = decision.outcome === 'rejected' ? decision.reasons : [];
  unit.tx.defer(decideClient, [user_id, round, decision.outcome, JSON.stringify(reasons), unit.at]);
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
