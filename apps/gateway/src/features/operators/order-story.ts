import type { Static } from 'typebox';
import { SYSTEM } from '../../db/database.ts';
import { intentsOfOrder } from '../../engine/stuck-intents.store.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { readOrderForOperator } from '../orders/desk-reads.ts';
import type { TimelineEntry } from '../orders/order.types.ts';
import { type FundsTools, readOrderFunds } from '../orders/order-funds.ts';
import { depositView } from '../vendors/vendor-order.view.ts';
import { type AuditRow, KYC_WAIVED, listAudit } from './audit.ts';
import { effectView } from './effects.schemas.ts';
import type { OrderStorySchema } from './operator-order.schemas.ts';
import { operatorOrderView } from './operator-order.view.ts';
import {
  authorizationsOfOrder,
  caseOfOrder,
  eventsOfOrder,
  proofsOfOrder,
  transactionsOfOrder,
} from './order-story.store.ts';
import { lateBefore } from './stuck-effects.ts';

type Story = Static<typeof OrderStorySchema>;

export interface StoryTools extends UnitTools, FundsTools {}

const AUDIT_ENTRIES = 100;

/** All that every part of the program has written about one order, and what the chain says of its escrow now. */
export async function readOrderStory(tools: StoryTools, givenId: string): Promise<Story> {
  const { db, clock } = tools;
  const orderId = givenId.toLowerCase();
  const { order, signatures, deposits } = await readOrderForOperator(db, orderId);
  const [funds, effects, transactions, authorizations, events, proofs, [compliance], audit] =
    await Promise.all([
      readOrderFunds(tools, SYSTEM, order),
      db.query(SYSTEM, intentsOfOrder, [lateBefore(clock.date()), orderId]),
      db.query(SYSTEM, transactionsOfOrder, [orderId]),
      db.query(SYSTEM, authorizationsOfOrder, [orderId]),
      db.query(SYSTEM, eventsOfOrder, [orderId]),
      db.query(SYSTEM, proofsOfOrder, [orderId]),
      db.query(SYSTEM, caseOfOrder, [orderId]),
      db.query(SYSTEM, listAudit, [`orders/${orderId}`, AUDIT_ENTRIES, 0]),
    ]);
  return {
    order: operatorOrderView(order),
    timeline: timelineWithDecisions(order.timeline, audit),
    facts: { ...order.facts },
    funds,
    signatures: signatures as Story['signatures'],
    deposits: deposits.map(depositView),
    authorizations: authorizations.map(({ amount, issued_at, expires_at, ...row }) => ({
      ...row,
      amount_atomic: amount,
      issued_at: issued_at.toISOString(),
      expires_at: expires_at.toISOString(),
    })) as Story['authorizations'],
    effects: effects.map(effectView),
    transactions: transactions.map(({ created_at, settled_at, ...row }) => ({
      ...row,
      created_at: created_at.toISOString(),
      settled_at: settled_at?.toISOString() ?? null,
    })) as Story['transactions'],
    webhooks: events.map(({ created_at, ...row }) => ({
      ...row,
      created_at: created_at.toISOString(),
    })) as Story['webhooks'],
    proofs: proofs.map(({ submitted_at, reviewed_at, ...row }) => ({
      ...row,
      submitted_at: submitted_at.toISOString(),
      reviewed_at: reviewed_at?.toISOString() ?? null,
    })),
    compliance_case_id: compliance?.case_id ?? null,
    audit: audit.map(({ operator_key_id, action, reason, at }) => ({
      operator_key_id,
      action,
      reason,
      at: at.toISOString(),
    })),
  };
}

/** A partner's timeline has statuses only; whoever looks into a payout must see on whose word it went. */
function timelineWithDecisions(
  timeline: readonly TimelineEntry[],
  audit: readonly AuditRow[],
): Story['timeline'] {
  const waivers = audit
    .filter(({ action }) => action === KYC_WAIVED)
    .map(({ before, at }) => ({
      status: before?.status as TimelineEntry['status'],
      at: at.toISOString(),
      decision: 'kyc_waived' as const,
    }));
  const statuses = timeline.map(({ status, at }) => ({ status, at }));
  // What follows from a decision has its instant, so the decision comes first.
  return [...waivers, ...statuses].sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
}
