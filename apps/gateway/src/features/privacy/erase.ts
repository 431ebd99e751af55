import { CausewayError } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { actorResponseContext, responseContext } from '../../http/idempotency.store.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { eraseKycOf } from '../kyc/documents/documents.ts';
import {
  eraseOrdersOf,
  erasePayoutsTo,
  openOrdersOf,
  openPayoutsTo,
} from '../orders/privacy/order-privacy.ts';
import { paymentDetailsIdsOf } from '../payment-details/payment-details.ts';
import { lockAnyRecipient } from '../recipients/recipient.ts';
import { eraseRecipientRow } from '../recipients/review-recipients.ts';
import { eraseUserRow } from '../users/kyc-status.ts';
import { lockUserRow } from '../users/user.ts';
import { eraseAnswersOfReceivers } from '../webhooks/replay-deliveries.ts';
import { eraseSessionsOf } from '../widget/sessions.ts';

/** By what a person is known in responses. */
export interface PersonInResponses {
  readonly partnerId: string;
  /** The customer or the recipient. */
  readonly personId: string;
  /** Responses name payment details by their number alone. */
  readonly paymentDetailsIds?: readonly string[];
}

interface StoredBody {
  owner: string;
  idempotency_key: string;
  body: string;
}

const BATCH = 500;

const partnerResponses = statement<[partnerId: string, afterKey: string, limit: number], StoredBody>(
  'privacy.partner_responses',
  `SELECT partner_id::text AS owner, idempotency_key, body FROM idempotent_responses
    WHERE partner_id = $1 AND idempotency_key > $2 ORDER BY idempotency_key LIMIT $3`,
);

const actorResponses = statement<[afterActor: string, afterKey: string, limit: number], StoredBody>(
  'privacy.actor_responses',
  `SELECT actor AS owner, idempotency_key, body FROM actor_responses
    WHERE (actor, idempotency_key) > ($1, $2) ORDER BY actor, idempotency_key LIMIT $3`,
);

const dropPartnerResponses = statement<[partnerId: string, keys: readonly string[]]>(
  'privacy.drop_partner_responses',
  'DELETE FROM idempotent_responses WHERE partner_id = $1 AND idempotency_key = ANY($2::text[])',
);

const dropActorResponse = statement<[actor: string, key: string]>(
  'privacy.drop_actor_response',
  'DELETE FROM actor_responses WHERE actor = $1 AND idempotency_key = $2',
);

/**
 * Deletes the stored responses that mention a person. Nothing is done twice for it: what a repeat asks for is refused by
 * what it names, a customer that is gone, a quote that is used, an order that has ended. Which responses these are is known
 * only by opening them; there are at most those of a day, and erasing a person is rare.
 */
export async function eraseResponsesAbout(
  { sealer }: { readonly sealer: Sealer },
  unit: UnitOfWork,
  person: PersonInResponses,
): Promise<void> {
  await erasePartnerResponses(sealer, unit, person);
  await eraseActorResponses(sealer, unit, person);
}

async function erasePartnerResponses(
  sealer: Sealer,
  unit: UnitOfWork,
  person: PersonInResponses,
): Promise<void> {
  const { partnerId } = person;
  for (let after = '', count = BATCH; count === BATCH; ) {
    const responses = await unit.tx.query(partnerResponses, [partnerId, after, BATCH]);
    const about = responses.filter(({ idempotency_key: idempotencyKey, body }) =>
      speaksOf(sealer.open(body, responseContext({ partnerId, idempotencyKey })), person),
    );
    if (about.length > 0) {
      unit.tx.defer(dropPartnerResponses, [partnerId, about.map((response) => response.idempotency_key)]);
    }
    count = responses.length;
    after = responses.at(-1)?.idempotency_key ?? after;
  }
}

async function eraseActorResponses(
  sealer: Sealer,
  unit: UnitOfWork,
  person: PersonInResponses,
): Promise<void> {
  let after: Pick<StoredBody, 'owner' | 'idempotency_key'> = { owner: '', idempotency_key: '' };
  for (let count = BATCH; count === BATCH; ) {
    const responses = await unit.tx.query(actorResponses, [after.owner, after.idempotency_key, BATCH]);
    for (const { owner: actor, idempotency_key: idempotencyKey, body } of responses) {
      if (speaksOf(sealer.open(body, actorResponseContext({ actor, idempotencyKey })), person)) {
        unit.tx.defer(dropActorResponse, [actor, idempotencyKey]);
      }
    }
    count = responses.length;
    after = responses.at(-1) ?? after;
  }
}

const DETAILS_NUMBER = /"(?:id|payment_details_id)":"?([0-9]+)/g;

/** The person's own id, or the number of its payment details. One response too many does no harm, one too few does. */
function speaksOf(text: string, { personId, paymentDetailsIds = [] }: PersonInResponses): boolean {
  if (text.includes(personId)) return true;
  return (
    paymentDetailsIds.length > 0 &&
    [...text.matchAll(DETAILS_NUMBER)].some(([, number]) => paymentDetailsIds.includes(number ?? ''))
  );
}

/**
 * Erases a customer. The data key goes, and with it everything that was sealed with it: profile, identity, payment
 * details, documents, whatever copy of them exists. What the master key seals of the person is deleted: payers, proofs
 * stored responses, and what receivers of webhooks answered. Orders, postings and events stay; they name no person (docs/decisions/0012).
 */
export async function eraseUser(
  deps: { readonly sealer: Sealer },
  unit: UnitOfWork,
  userId: string,
): Promise<{ readonly documents: number }> {
  const user = await lockUserRow(unit, userId);
  if ((await openOrdersOf(unit, userId)) > 0) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The customer has open orders; they have to end first.',
    });
  }
  const documents = await eraseKycOf(unit, userId, user.partner_id);
  eraseSessionsOf(unit, userId);
  eraseUserRow(unit, user);
  eraseOrdersOf(unit, userId);
  eraseAnswersOfReceivers(unit, { userId });
  await eraseResponsesAbout(deps, unit, {
    partnerId: user.partner_id,
    personId: userId,
    paymentDetailsIds: await paymentDetailsIdsOf(unit, userId),
  });
  return { documents };
}

/** Erases a recipient: archived for good, and unreadable in every version, snapshot, proof and stored response. */
export async function eraseRecipient(
  deps: { readonly sealer: Sealer },
  unit: UnitOfWork,
  recipientId: string,
): Promise<void> {
  const row = await lockAnyRecipient(unit, recipientId);
  if ((await openPayoutsTo(unit, recipientId)) > 0) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'Open orders pay this recipient; they have to end first.',
    });
  }
  eraseRecipientRow(unit, row);
  erasePayoutsTo(unit, recipientId);
  eraseAnswersOfReceivers(unit, { recipientId });
  await eraseResponsesAbout(deps, unit, { partnerId: row.partner_id, personId: recipientId });
}
