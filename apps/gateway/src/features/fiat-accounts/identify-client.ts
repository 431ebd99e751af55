import {
  CausewayError,
  decide,
  FIAT_CLIENT_REJECTED,
  fiatClientMachine,
  type IdentificationSchema,
  KYC_CLEARED,
  type KycStatus,
  NEW,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, reading, type Scope } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { BankingPort } from '../../ports/banking.ts';
import type { Vaults } from '../../vault/vault.ts';
import {
  identityFields,
  type KnownIdentity,
  type KycField,
  type KycFieldValues,
  readSubmission,
} from '../kyc/kyc-fields.ts';
import { identityOf, readIdentity } from '../kyc/submission.ts';
import { lockUserRow, vaultOfUser } from '../users/user.ts';
import { clientAdapter } from './fiat-account.adapters.ts';
import { type ClientRow, findClient } from './fiat-account.store.ts';

/** What the bank cannot do without. */
const NEEDED = [
  'first_name',
  'last_name',
  'date_of_birth',
  'nationality',
  'address',
  'city',
  'postal_code',
  'country_code',
] as const satisfies readonly KycField[];

export type ClientFields = Readonly<Record<(typeof NEEDED)[number], string>> & {
  readonly phone_number?: string;
};

/** What was verified counts for more than what is said now, and what is said now for more than what was said at sign-up. */
export function mergedFields(
  identity: KnownIdentity,
  kycStatus: KycStatus,
  given: KycFieldValues,
): KycFieldValues {
  const known = identityFields(identity);
  return kycStatus === KYC_CLEARED ? { ...known, ...given, ...identity.kyc } : { ...known, ...given };
}

export function missingFields(fields: KycFieldValues): string[] {
  return NEEDED.filter((field) => fields[field] === undefined);
}

/** Only what the bank is told is kept of it. */
export function clientFieldsOf(fields: KycFieldValues): ClientFields {
  const needed = Object.fromEntries(NEEDED.map((field) => [field, fields[field] ?? '']));
  const { phone_number: phone } = fields;
  return { ...needed, ...(phone === undefined ? {} : { phone_number: phone }) } as ClientFields;
}

export const clientContext = (userId: string, round: number) => `fiat_clients.fields:${userId}:${round}`;

export function holderNameOf(fields: ClientFields): string {
  return `${fields.first_name} ${fields.last_name}`;
}

export interface IdentifyDeps {
  readonly vaults: Vaults;
  /** None where no bank is configured. */
  readonly bank: BankingPort | undefined;
}

type Identification = Static<typeof IdentificationSchema>;

/**
 * Introduces a customer to the bank. Asked again while the bank thinks, or once it has approved, it changes nothing; a
 * customer that the bank has rejected may be introduced again.
 */
export async function identifyClient(
  { vaults, bank }: IdentifyDeps,
  unit: UnitOfWork,
  userId: string,
  body: KycFieldValues,
): Promise<Identification> {
  const user = await lockUserRow(unit, userId);
  const given = readSubmission({ method: 'hosted_link', ...body }, unit.at).fields;
  const [known] = await unit.tx.query(findClient, [userId]);
  const decision = decide(fiatClientMachine, known?.status ?? NEW, 'client_submitted', {}, 'partner');
  const isRepeated = decision.kind === 'refused' || decision.transition.noop === true;
  if (known !== undefined && isRepeated) return submittedView(known);
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
  const { client } = execute(
    unit,
    clientAdapter,
    { userId, partnerId: user.partner_id, client: known, submission: { round, fieldsSealed: sealed } },
    'client_submitted',
    'partner',
  ).row;
  if (client === undefined) throw new Error('the client was not submitted');
  return submittedView(client);
}

export async function readIdentification(
  deps: { readonly db: Database; readonly vaults: Vaults },
  scope: Scope,
  userId: string,
): Promise<Identification> {
  const { user, identity } = await readIdentity(reading(deps.db, scope), deps.vaults, userId);
  const [client] = await deps.db.query(scope, findClient, [userId]);
  if (client !== undefined) return submittedView(client);
  return {
    user_id: userId,
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
    ...(client.status === FIAT_CLIENT_REJECTED ? { rejection_reasons: client.rejection_reasons } : {}),
    submitted_at: client.submitted_at.toISOString(),
    updated_at: client.updated_at.toISOString(),
  };
}
