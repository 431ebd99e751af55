import { CausewayError, type IdentificationSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, reading, type Scope } from '../../db/database.ts';
import { prepareIntent } from '../../engine/intent.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { BankingPort } from '../../upstream/banking.port.ts';
import { type KycFieldValues, readSubmission } from '../kyc/kyc-fields.ts';
import { identityOf, readIdentity } from '../kyc/kyc-profile.ts';
import type { Vaults } from '../privacy/vault.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
import { clientContext, clientFieldsOf, mergedFields, missingFields } from './client-fields.ts';
import { type ClientRow, findClient, submitClient } from './fiat-client.store.ts';

export interface IdentifyTools {
  readonly vaults: Vaults;
  /** None where no bank is configured. */
  readonly bank: BankingPort | undefined;
}

type Identification = Static<typeof IdentificationSchema>;

export const SUBMIT_CLIENT = 'bank.submit-client';

/**
 * Introduces a customer to the bank. Asked again while the bank thinks, or once it has approved, it changes nothing; a
 * customer that the bank has rejected may be introduced again.
 */
export async function identifyClient(
  { vaults, bank }: IdentifyTools,
  unit: UnitOfWork,
  userId: string,
  body: KycFieldValues,
): Promise<Identification> {
  const user = await lockUserRow(unit, userId);
  const given = readSubmission({ method: 'hosted_link', ...body }, unit.at).fields;
  const [known] = await unit.tx.query(findClient, [userId]);
  if (known !== undefined && known.status !== 'rejected') return submittedView(known);
  if (bank === undefined) throw new CausewayError('BANKING_UNAVAILABLE');
  const fields = mergedFields(await identityOf(unit.tx, vaults, user), user.kyc_status, given);
  const missing = missingFields(fields);
  if (missing.length > 0) {
    throw new CausewayError('MISSING_FIELDS', {
      message: `Required fields are missing: ${missing.join(', ')}.`,
      details: { missing_fields: missing },
    });
  }
  const round = (known?.round ?? 0) + 1;
  const sealed = vaultOfUser(vaults, user).seal(
    JSON.stringify(clientFieldsOf(fields)),
    clientContext(userId, round),
  );
  const [client] = await unit.tx.query(submitClient, [userId, user.partner_id, round, sealed, unit.at]);
  if (client === undefined) throw new Error('the client was not written');
  prepareIntent(unit, {
    kind: SUBMIT_CLIENT,
    dedupeKey: `${userId}:${round}`,
    partnerId: user.partner_id,
    payload: { user_id: userId, round },
  });
  return submittedView(client);
}

export async function readIdentification(
  tools: { readonly db: Database; readonly vaults: Vaults },
  scope: Scope,
  userId: string,
): Promise<Identification> {
  const { user, identity } = await readIdentity(reading(tools.db, scope), tools.vaults, userId);
  const [client] = await tools.db.query(scope, findClient, [userId]);
  if (client !== undefined) return submittedView(client);
  return {
    user_id: userId.toLowerCase(),
    status: 'not_submitted',
    missing_fields: missingFields(mergedFields(identity, user.kyc_status, {})),
    submitted_at: null,
    updated_at: null,
  };
}

function submittedView(client: ClientRow): Identification {
  return {
    user_id: client.user_id,
    status: client.status,
    missing_fields: [],
    ...(client.status === 'rejected' ? { rejection_reasons: client.rejection_reasons } : {}),
    submitted_at: client.submitted_at.toISOString(),
    updated_at: client.updated_at.toISOString(),
  };
}
