import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
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
  const sealed = vaultOfUser(tools.vaults, user).seal(
    JSON.stringify(checked.details),
    sealedDetailsContext(sealId),
  );
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
  return { row, details: checked.details };
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
