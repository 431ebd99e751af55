import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { identityOf } from '../kyc/kyc-profile.ts';
import type { Vaults } from '../privacy/vault.ts';
import { foldName } from '../recipients/screening/folded-name.ts';
import type { ScreeningPort, ScreeningSubject } from '../recipients/screening/screening.port.ts';
import { holderSubjects, openHolderCase } from '../screening/screening-case.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
import type { UserRow } from '../users/user.types.ts';
import {
  type CheckedDetails,
  type DetailsCheck,
  DetailsCheckUnavailable,
  type DetailsRequest,
} from './details-check.port.ts';
import { sealedDetailsContext } from './load-payment-details.ts';
import { insertPaymentDetails, type PaymentDetailsRow } from './payment-details.store.ts';
import { uncheckedDetails } from './unchecked-details.ts';

export interface PaymentDetailsTools {
  readonly vaults: Vaults;
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

/** Keeps payment details of a customer, checked where that is possible. */
export async function createPaymentDetails(
  tools: PaymentDetailsTools,
  unit: UnitOfWork,
  userId: string,
  request: DetailsRequest,
): Promise<{ readonly row: PaymentDetailsRow; readonly details: CheckedDetails['details'] }> {
  const user = await lockUserRow(unit, userId);
  const { checked, validated } = checkIfPossible(tools.detailsCheck, request);
  const sealId = unit.ids.uuid();
  const vault = vaultOfUser(tools.vaults, user);
  const sealed = vault.seal(JSON.stringify(checked.details), sealedDetailsContext(sealId));
  const [row] = await unit.tx.query(insertPaymentDetails, [
    sealId,
    user.partner_id,
    userId,
    checked.rail,
    checked.currency,
    checked.countryCode,
    checked.institutionId,
    checked.formatId,
    checked.beneficiaryType,
    sealed,
    validated,
    unit.at,
  ]);
  if (row === undefined) throw new Error('payment details were not written');
  const subjects = holderSubjects(checked.details, checked.beneficiaryType);
  if (await isOwnName(tools, unit, user, subjects)) return { row, details: checked.details };
  const subject = {
    kind: 'payment_details',
    key: row.payment_details_id,
    partnerId: user.partner_id,
  } as const;
  const screening_status = openHolderCase(tools, unit, subject, { subjects, vault });
  return { row: { ...row, screening_status }, details: checked.details };
}

/** Whether every name is the customer's as its KYC has verified it. Any other is a third party's. */
async function isOwnName(
  { vaults }: PaymentDetailsTools,
  unit: UnitOfWork,
  user: UserRow,
  subjects: readonly ScreeningSubject[],
): Promise<boolean> {
  if (user.kyc_status !== 'VERIFIED' || subjects.length === 0) return false;
  const { kyc } = await identityOf(unit.tx, vaults, user);
  if (kyc.first_name === undefined || kyc.last_name === undefined) return false;
  const own = nameKey(`${kyc.first_name} ${kyc.last_name}`);
  return own !== '' && subjects.every(({ name }) => nameKey(name) === own);
}

/** The words of a name in any order, as they are compared with a list. */
function nameKey(name: string): string {
  return foldName(name)
    .words.map(({ text }) => text)
    .sort()
    .join(' ');
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
