import type { KycStatus } from '@causeway/protocol';
import { identityFields, type KnownIdentity } from '../kyc/identity.ts';
import type { KycField, KycFieldValues } from '../kyc/kyc-fields.ts';

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
  return kycStatus === 'VERIFIED' ? { ...known, ...given, ...identity.kyc } : { ...known, ...given };
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
