import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { forgetKycOf } from '../kyc/forget-kyc.ts';
import { openOrdersOf } from '../orders/order-privacy.ts';
import { paymentDetailsIdsOf } from '../payment-details/load-payment-details.ts';
import { forgetUserRow } from '../users/forget-user.ts';
import { lockUserRow } from '../users/load-user.ts';
import { forgetAnswersAbout } from './forget-answers.ts';

/**
 * Forgets a customer. The data key goes, and with it everything that was sealed with it: profile, identity, payment
 * details, documents, whatever copy of them exists. What the master key seals of the person is deleted: payers, proofs
 * and kept answers. Orders, postings and events stay; they name nobody (docs/decisions/0012).
 */
export async function eraseUser(
  tools: { readonly sealer: Sealer },
  unit: UnitOfWork,
  userId: string,
): Promise<{ readonly documents: number }> {
  const user = await lockUserRow(unit, userId);
  if ((await openOrdersOf(unit, userId)) > 0) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The customer has open orders; they have to end first.',
    });
  }
  const documents = await forgetKycOf(unit, userId, user.partner_id);
  forgetUserRow(unit, user);
  await forgetAnswersAbout(tools, unit, {
    partnerId: user.partner_id,
    personId: userId,
    paymentDetailsIds: await paymentDetailsIdsOf(unit, userId),
  });
  return { documents };
}
