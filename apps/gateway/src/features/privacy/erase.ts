import { CausewayError } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { actorAnswerContext, answerContext } from '../../http/idempotency.ts';
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

/** By what a person is known in answers. */
export interface PersonInAnswers {
  readonly partnerId: string;
  /** The customer or the recipient. */
  readonly personId: string;
  /** Payment details are answered by their number alone. */
  readonly paymentDetailsIds?: readonly string[];
}

interface KeptAnswer {
  owner: string;
  idempotency_key: string;
  body: string;
}

const BATCH = 500;

const partnerAnswers = statement<[partnerId: string, afterKey: string, limit: number], KeptAnswer>(
  'privacy.partner_answers',
  `SELECT partner_id::text AS owner, idempotency_key, body FROM idempotent_answers
    WHERE partner_id = $1 AND idempotency_key > $2 ORDER BY idempotency_key LIMIT $3`,
);

const actorAnswers = statement<[afterActor: string, afterKey: string, limit: number], KeptAnswer>(
  'privacy.actor_answers',
  `SELECT actor AS owner, idempotency_key, body FROM actor_answers
    WHERE (actor, idempotency_key) > ($1, $2) ORDER BY actor, idempotency_key LIMIT $3`,
);

const dropPartnerAnswers = statement<[partnerId: string, keys: readonly string[]]>(
  'privacy.drop_partner_answers',
  'DELETE FROM idempotent_answers WHERE partner_id = $1 AND idempotency_key = ANY($2::text[])',
);

const dropActorAnswer = statement<[actor: string, key: string]>(
  'privacy.drop_actor_answer',
  'DELETE FROM actor_answers WHERE actor = $1 AND idempotency_key = $2',
);

/**
 * Deletes the kept answers that speak of a person. Nothing is done twice for it: what a repeat asks for is refused by
 * what it names, a customer that is gone, a quote that is used, an order that has ended. Which answers these are is known
 * only by opening them; there are at most those of a day, and forgetting somebody is rare.
 */
export async function eraseAnswersAbout(
  { sealer }: { readonly sealer: Sealer },
  unit: UnitOfWork,
  person: PersonInAnswers,
): Promise<void> {
  await erasePartnerAnswers(sealer, unit, person);
  await eraseActorAnswers(sealer, unit, person);
}

async function erasePartnerAnswers(sealer: Sealer, unit: UnitOfWork, person: PersonInAnswers): Promise<void> {
  const { partnerId } = person;
  for (let after = '', count = BATCH; count === BATCH; ) {
    const answers = await unit.tx.query(partnerAnswers, [partnerId, after, BATCH]);
    const about = answers.filter(({ idempotency_key: idempotencyKey, body }) =>
      speaksOf(sealer.open(body, answerContext({ partnerId, idempotencyKey })), person),
    );
    if (about.length > 0) {
      unit.tx.defer(dropPartnerAnswers, [partnerId, about.map((answer) => answer.idempotency_key)]);
    }
    count = answers.length;
    after = answers.at(-1)?.idempotency_key ?? after;
  }
}

async function eraseActorAnswers(sealer: Sealer, unit: UnitOfWork, person: PersonInAnswers): Promise<void> {
  let after: Pick<KeptAnswer, 'owner' | 'idempotency_key'> = { owner: '', idempotency_key: '' };
  for (let count = BATCH; count === BATCH; ) {
    const answers = await unit.tx.query(actorAnswers, [after.owner, after.idempotency_key, BATCH]);
    for (const { owner: actor, idempotency_key: idempotencyKey, body } of answers) {
      if (speaksOf(sealer.open(body, actorAnswerContext({ actor, idempotencyKey })), person)) {
        unit.tx.defer(dropActorAnswer, [actor, idempotencyKey]);
      }
    }
    count = answers.length;
    after = answers.at(-1) ?? after;
  }
}

const DETAILS_NUMBER = /"(?:id|payment_details_id)":"?([0-9]+)/g;

/** The person's own id, or the number of its payment details. One answer too many does no harm, one too few does. */
function speaksOf(text: string, { personId, paymentDetailsIds = [] }: PersonInAnswers): boolean {
  if (text.includes(personId)) return true;
  return (
    paymentDetailsIds.length > 0 &&
    [...text.matchAll(DETAILS_NUMBER)].some(([, number]) => paymentDetailsIds.includes(number ?? ''))
  );
}

/**
 * Forgets a customer. The data key goes, and with it everything that was sealed with it: profile, identity, payment
 * details, documents, whatever copy of them exists. What the master key seals of the person is deleted: payers, proofs
 * and kept answers. Orders, postings and events stay; they name nobody (docs/decisions/0012).
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
  eraseUserRow(unit, user);
  eraseOrdersOf(unit, userId);
  await eraseAnswersAbout(deps, unit, {
    partnerId: user.partner_id,
    personId: userId,
    paymentDetailsIds: await paymentDetailsIdsOf(unit, userId),
  });
  return { documents };
}

/** Forgets a recipient: archived for good, and unreadable in every version, snapshot, proof and kept answer. */
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
  await eraseAnswersAbout(deps, unit, { partnerId: row.partner_id, personId: recipientId });
}
