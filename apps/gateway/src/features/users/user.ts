import { CausewayError, KYC_INITIAL, type UserSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, type Reading, reading, type Scope, violatedConstraint } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidFields } from '../../http/errors.ts';
import { isEmail, normaliseEmail } from '../../lib/contact.ts';
import { ISO_COUNTRIES } from '../../lib/iso-codes.ts';
import type { BlindIndex, Vault, Vaults } from '../../vault/vault.ts';
import {
  countUnderReview,
  findUser,
  findUserByIndex,
  insertUser,
  listUnderReview,
  lockUser,
  type UserRow,
} from './user.store.ts';

export type { UserRow } from './user.store.ts';

/** What a partner tells of a customer when it creates one. Personal: it is kept sealed. */
export interface UserProfile {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly phone_number: string | null;
  readonly country_code: string | null;
}

export interface UserProfileInput {
  readonly email: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly phone_number?: string;
  readonly country_code?: string;
}

const PHONE = /^\+?[0-9]{5,20}$/;

/** Brings what was sent into the form that is kept, or says everything that is wrong with it. */
export function readProfile(input: UserProfileInput): UserProfile {
  const problems: { path: string; message: string }[] = [];
  const email = normalisedEmail(input.email);
  if (email === undefined) problems.push({ path: 'email', message: 'must be an email address' });
  const phone = textOrNull(input.phone_number)?.replace(/[\s().-]/g, '') ?? null;
  if (phone !== null && !PHONE.test(phone)) {
    problems.push({ path: 'phone_number', message: 'must be a phone number such as +4915112345678' });
  }
  const country = input.country_code?.toUpperCase() ?? null;
  if (country !== null && !ISO_COUNTRIES.has(country)) {
    problems.push({ path: 'country_code', message: 'must be an ISO 3166-1 alpha-2 code' });
  }
  if (problems.length > 0 || email === undefined) throw invalidFields(problems);
  return {
    email,
    first_name: textOrNull(input.first_name),
    last_name: textOrNull(input.last_name),
    phone_number: phone,
    country_code: country,
  };
}

/** One form for one mailbox, so that it is found again however it was typed. */
export function normalisedEmail(text: string): string | undefined {
  const email = normaliseEmail(text.trim());
  return isEmail(email) ? email : undefined;
}

function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** How other features come to a customer: in the caller's scope, or not at all. */
export function readUser(db: Database, scope: Scope, userId: string): Promise<UserRow> {
  return readUserBy(reading(db, scope), userId);
}

export async function readUserIfAny(reads: Reading, userId: string): Promise<UserRow | undefined> {
  const [user] = await reads.query(findUser, [userId]);
  return user;
}

export async function readUserBy(reads: Reading, userId: string): Promise<UserRow> {
  const user = await readUserIfAny(reads, userId);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  return user;
}

/** The customer of a mailbox, by its blind index. */
export async function findUserByEmail(
  unit: UnitOfWork,
  partnerId: string,
  emailIndex: string,
): Promise<string | undefined> {
  const [user] = await unit.tx.query(findUserByIndex, [partnerId, emailIndex]);
  return user?.user_id;
}

export async function lockUserIfAny(unit: UnitOfWork, userId: string): Promise<UserRow | undefined> {
  const [user] = await unit.tx.query(lockUser, [userId]);
  return user;
}

export async function lockUserRow(unit: UnitOfWork, userId: string): Promise<UserRow> {
  const user = await lockUserIfAny(unit, userId);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  return user;
}

/** The name under which a customer's data key is wrapped. */
export function userKeyOwner(userId: string): string {
  return `users:${userId}`;
}

export function vaultOfUser(vaults: Vaults, user: UserRow): Vault {
  if (user.data_key_sealed === null) throw new CausewayError('USER_NOT_FOUND');
  return vaults.open(user.data_key_sealed, userKeyOwner(user.user_id));
}

export function profileContext(userId: string): string {
  return `users.profile:${userId}`;
}

export function profileOf(vaults: Vaults, user: UserRow): UserProfile {
  if (user.profile_sealed === null) throw new CausewayError('USER_NOT_FOUND');
  const text = vaultOfUser(vaults, user).open(user.profile_sealed, profileContext(user.user_id));
  return JSON.parse(text) as UserProfile;
}

export async function usersUnderReview(
  db: Database,
  scope: Scope,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ users: UserRow[]; total: number }> {
  const [users, [count]] = await db.transaction(scope, (tx) =>
    tx.queryBoth(listUnderReview, [page.limit, page.offset], countUnderReview, []),
  );
  return { users, total: Number(count?.total ?? 0) };
}

export function userView(user: UserRow, profile: UserProfile): Static<typeof UserSchema> {
  return {
    id: user.user_id,
    email: profile.email,
    first_name: profile.first_name,
    last_name: profile.last_name,
    phone_number: profile.phone_number,
    country_code: profile.country_code,
    reference_id: user.reference_id,
    kyc: {
      status: user.kyc_status,
      ...(user.rejection_reasons.length > 0 ? { rejection_reasons: user.rejection_reasons } : {}),
      updated_at: user.kyc_updated_at.toISOString(),
    },
    created_at: user.created_at.toISOString(),
  };
}

/** What a person at the console sees of a customer before it asks to see it all: enough to recognise, too little to use. */
export function maskedProfile(profile: UserProfile): UserProfile {
  const initial = (text: string | null) => (text === null ? null : `${[...text][0] ?? ''}****`);
  return {
    email: `${initial(profile.email)}${profile.email.slice(profile.email.lastIndexOf('@'))}`,
    first_name: initial(profile.first_name),
    last_name: initial(profile.last_name),
    phone_number: initial(profile.phone_number),
    country_code: profile.country_code,
  };
}

export interface UserPrivacyDeps {
  readonly vaults: Vaults;
  readonly blindIndex: BlindIndex;
}

export interface NewUser extends UserProfileInput {
  readonly reference_id?: string;
}

/** The column of an email address among the blind indexes. */
export const EMAIL_INDEX = 'users.email';

export async function createUser(
  deps: UserPrivacyDeps,
  unit: UnitOfWork,
  partnerId: string,
  input: NewUser,
): Promise<Static<typeof UserSchema>> {
  const profile = readProfile(input);
  const userId = unit.ids.uuid();
  const referenceId = input.reference_id ?? null;
  const { wrappedKey, vault } = deps.vaults.create(userKeyOwner(userId));
  const profileSealed = vault.seal(JSON.stringify(profile), profileContext(userId));
  try {
    await unit.tx.query(insertUser, [
      userId,
      partnerId,
      wrappedKey,
      profileSealed,
      deps.blindIndex(EMAIL_INDEX, partnerId, profile.email),
      referenceId,
      KYC_INITIAL,
      unit.at,
    ]);
  } catch (error) {
    if (violatedConstraint(error) === 'users_email_once') throw new CausewayError('USER_ALREADY_EXISTS');
    throw error;
  }
  return userView(
    {
      user_id: userId,
      partner_id: partnerId,
      reference_id: referenceId,
      kyc_status: KYC_INITIAL,
      kyc_updated_at: unit.at,
      rejection_reasons: [],
      created_at: unit.at,
      data_key_sealed: wrappedKey,
      profile_sealed: profileSealed,
    },
    profile,
  );
}
