import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import { identityFields } from '../kyc/identity.ts';
import { isSuppliable } from '../kyc/kyc-patch.ts';
import { readIdentity } from '../kyc/kyc-profile.ts';
import { senderFieldProblems, senderIdentityDetails } from '../payment-details/validation/sender-fields.ts';
import type { Vaults } from '../privacy/vault.ts';

export interface SenderIdentityTools {
  readonly vaults: Vaults;
  readonly currencies: Currencies;
}

/** Consumer-to-consumer wallets have to be told who pays. Other rails are not asked anything. */
export async function requireSenderIdentity(
  tools: SenderIdentityTools,
  unit: UnitOfWork,
  payment: { readonly user_id: string; readonly payment_network_slug: string },
): Promise<void> {
  const { catalogue } = tools.currencies.current().reference;
  const wanted = catalogue
    .rail(payment.payment_network_slug)
    ?.formats?.find(({ senderIdentity }) => senderIdentity !== undefined)?.senderIdentity;
  if (wanted === undefined) return;
  const { identity } = await readIdentity(unit.tx, tools.vaults, payment.user_id);
  const fieldLimits: Record<string, number> = {};
  for (const [field, limit] of Object.entries(wanted.fieldLimits ?? {})) {
    if (limit !== undefined) fieldLimits[field] = limit;
  }
  const problems = senderFieldProblems(identityFields(identity), {
    requiredFields: wanted.requiredFields,
    fieldLimits,
  });
  if (problems.length === 0) return;
  throw new CausewayError('SENDER_IDENTITY_REQUIRED', {
    details: senderIdentityDetails(problems, (field) => isSuppliable(field, identity.kyc)),
  });
}
