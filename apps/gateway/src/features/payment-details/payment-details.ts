import {
  CausewayError,
  type PageInput,
  type PaymentDetailsInput,
  type PaymentDetailsListSchema,
  type PaymentDetailsSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, type Reading, type Scope, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { ScreeningPort } from '../../ports/name-screening.ts';
import type { Vaults } from '../../vault/vault.ts';
import { type Holder, holderSubjects, openHolderCase } from '../screening/screening-case.ts';
import { lockUserRow, readUser, type UserRow, userKeyOwner, vaultOfUser } from '../users/user.ts';
import {
  type AccountDetails,
  accountView,
  holderOfAccount,
  openAccount,
  sealAccount,
} from './account-details.ts';
import {
  type CheckedDetails,
  type DetailsCheck,
  DetailsCheckUnavailable,
  type DetailsRequest,
  uncheckedDetails,
} from './details-check.ts';
import {
  countPaymentDetails,
  findPaymentDetails,
  holderOf,
  idsOfUser,
  insertPaymentDetails,
  listPaymentDetails,
  type PaymentDetailsRow,
} from './payment-details.store.ts';

const sealedDetailsContext = (sealId: string) => `payment_details:${sealId}`;

const LARGEST_ID = 2n ** 63n - 1n;

/** Payment details of this customer and of no other, whatever number was sent. */
export async function loadPaymentDetails(
  unit: { readonly tx: Reading },
  userId: string,
  paymentDetailsId: string,
): Promise<PaymentDetailsRow> {
  const possible = /^[0-9]{1,19}$/.test(paymentDetailsId) && BigInt(paymentDetailsId) <= LARGEST_ID;
  const [row] = possible ? await unit.tx.query(findPaymentDetails, [paymentDetailsId, userId]) : [];
  if (row === undefined) throw new CausewayError('PAYMENT_DETAILS_NOT_FOUND');
  return row;
}

export async function paymentDetailsIdsOf(unit: UnitOfWork, userId: string): Promise<readonly string[]> {
  return (await unit.tx.query(idsOfUser, [userId])).map((row) => row.payment_details_id);
}

/** The details in clear, for those who pay by them. */
export function openPaymentDetails(vaults: Vaults, user: UserRow, row: PaymentDetailsRow): AccountDetails {
  return openAccount(vaultOfUser(vaults, user), row, sealedDetailsContext(row.seal_id));
}

/** Whose account payment details are, for their screening. */
export async function holderOfPaymentDetails(
  deps: { readonly db: Database; readonly vaults: Vaults },
  paymentDetailsId: string,
): Promise<Holder | undefined> {
  const [row] = await deps.db.query(SYSTEM, holderOf, [paymentDetailsId]);
  if (row === undefined) return undefined;
  const vault = deps.vaults.open(row.data_key_sealed, userKeyOwner(row.user_id));
  return holderOfAccount(vault, row, sealedDetailsContext(row.seal_id));
}

export interface PaymentDetailsDeps {
  readonly vaults: Vaults;
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

export function detailsRequest(body: Static<typeof PaymentDetailsInput>): DetailsRequest {
  return {
    rail: body.rail,
    currency: body.currency,
    countryCode: body.country_code,
    institutionId: body.institution_id ?? undefined,
    details: body.details,
  };
}

export function paymentDetailsView(
  check: DetailsCheck,
  row: PaymentDetailsRow,
  details: AccountDetails,
): Static<typeof PaymentDetailsSchema> {
  return {
    id: Number(row.payment_details_id),
    ...accountView(check, row, details),
    screening_status: row.screening_status,
  };
}

/** A page of a customer’s payment details, newest first and masked. */
export async function readPaymentDetails(
  deps: Pick<PaymentDetailsDeps, 'vaults' | 'detailsCheck'> & { readonly db: Database },
  scope: Scope,
  userId: string,
  { page, limit }: Static<typeof PageInput>,
): Promise<Static<typeof PaymentDetailsListSchema>> {
  const user = await readUser(deps.db, scope, userId);
  const [rows, [count]] = await deps.db.transaction(scope, (tx) =>
    tx.queryBoth(listPaymentDetails, [user.user_id, limit, (page - 1) * limit], countPaymentDetails, [
      user.user_id,
    ]),
  );
  return {
    payment_details: rows.map((row) =>
      paymentDetailsView(deps.detailsCheck, row, openPaymentDetails(deps.vaults, user, row)),
    ),
    pagination: { page, limit, total: Number(count?.total ?? 0) },
  };
}

/** Keeps payment details of a customer, checked where that is possible. */
export async function createPaymentDetails(
  deps: PaymentDetailsDeps,
  unit: UnitOfWork,
  userId: string,
  request: DetailsRequest,
): Promise<{ readonly row: PaymentDetailsRow; readonly details: CheckedDetails['details'] }> {
  const user = await lockUserRow(unit, userId);
  const { checked, validated } = checkIfPossible(deps.detailsCheck, request);
  const sealId = unit.ids.uuid();
  const vault = vaultOfUser(deps.vaults, user);
  const [row] = await unit.tx.query(insertPaymentDetails, [
    sealId,
    user.partner_id,
    userId,
    ...sealAccount(vault, checked, sealedDetailsContext(sealId)),
    unit.at,
    validated,
  ]);
  if (row === undefined) throw new Error('payment details were not written');
  const subjects = holderSubjects(checked.details, checked.beneficiaryType);
  const subject = {
    kind: 'payment_details',
    key: row.payment_details_id,
    partnerId: user.partner_id,
  } as const;
  const screening_status = openHolderCase(deps, unit, subject, { subjects, vault });
  return { row: { ...row, screening_status }, details: checked.details };
}

/** The contract: when the validation is unavailable the record is still created. */
function checkIfPossible(
  check: DetailsCheck,
  request: DetailsRequest,
): { checked: CheckedDetails; validated: boolean } {
  try {
    return { checked: check.check(request), validated: true };
  } catch (error) {
    if (!(error instanceof DetailsCheckUnavailable)) throw error;
    return { checked: uncheckedDetails(request), validated: false };
  }
}

const MOST_REVEALED = 1_000;

/** A customer's payment details in clear. Only units that write an audit entry may ask. */
export async function revealPaymentDetails(
  unit: UnitOfWork,
  vaults: Vaults,
  user: UserRow,
): Promise<{ id: number; rail: string; details: AccountDetails }[]> {
  const rows = await unit.tx.query(listPaymentDetails, [user.user_id, MOST_REVEALED, 0]);
  return rows.map((row) => ({
    id: Number(row.payment_details_id),
    rail: row.rail,
    details: openPaymentDetails(vaults, user, row),
  }));
}
