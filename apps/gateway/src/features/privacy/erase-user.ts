import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { forgetKycOf } from '../kyc/forget-kyc.ts';
import { openOrdersOf } from '../orders/order-privacy.ts';
import { forgetUserRow } from '../users/forget-user.ts';
import { lockUserRow } from '../users/load-user.ts';

/**
 * Forgets a customer. The data key goes, and with it everything that was sealed with it: profile, identity, payment
 * details, documents, whatever copy of them exists. Orders, postings and events stay; they name nobody.
 */
export async function eraseUser(unit: UnitOfWork, userId: string): Promise<{ readonly documents: number }> {
  const user = await lockUserRow(unit, userId);
  if ((await openOrdersOf(unit, userId)) > 0) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The customer has open orders; they have to end first.',
    });
  }
  const documents = await forgetKycOf(unit, userId, user.partner_id);
  forgetUserRow(unit, user);
  return { documents };
}
