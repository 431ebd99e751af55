import type { ScreeningTrigger } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { openCurrent, vaultOfRecipient } from './load-recipient.ts';
import { findRecipient, insertScreening, lockRecipient } from './recipient.store.ts';
import type { RecipientData } from './recipient-fields.ts';
import { moveScreening } from './screen-recipient.ts';
import type { ScreeningPort, ScreeningResult, ScreeningStatus } from './screening/screening.port.ts';

export interface ScreenRecipientTools {
  readonly db: Database;
  readonly vaults: Vaults;
  readonly screening: ScreeningPort;
}

type Payload = { readonly recipient_id: string; readonly round: number };

const TRIGGERS: Readonly<Record<ScreeningStatus, ScreeningTrigger>> = {
  clear: 'screening_cleared',
  review: 'screening_matched',
  blocked: 'screening_blocked',
};

export const hitsContext = (recipientId: string, round: number) =>
  `recipient_screenings:${recipientId}:${round}`;

/** Asks the screening about a recipient. Asking twice is harmless: only the first answer of a round counts. */
export function screenRecipientHandler(tools: ScreenRecipientTools): IntentHandler<Payload> {
  async function carryOut({ payload }: Intent<Payload>): Promise<Outcome> {
    const [row] = await tools.db.query(SYSTEM, findRecipient, [payload.recipient_id]);
    if (row === undefined || row.screening_round !== payload.round) return { kind: 'confirmed' };
    const data = openCurrent(tools.vaults, row);
    let result: ScreeningResult;
    try {
      result = await tools.screening.screen(subjectOf(row.recipient_kind, data));
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.name : 'the screening failed' };
    }
    const vault = vaultOfRecipient(tools.vaults, row);
    return { kind: 'confirmed', followUp: (unit) => takeResult(unit, vault, payload, result) };
  }
  return {
    kind: 'recipient.screen',
    // Until it is screened a recipient is pending and cannot be paid.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: carryOut,
    reconcile: carryOut,
  };
}

function subjectOf(kind: 'individual' | 'business', data: RecipientData) {
  return { kind, name: data.recipient_name, nativeName: data.recipient_native_name ?? undefined };
}

async function takeResult(
  unit: UnitOfWork,
  vault: Vault,
  { recipient_id, round }: Payload,
  result: ScreeningResult,
): Promise<void> {
  const [row] = await unit.tx.query(lockRecipient, [recipient_id]);
  if (row === undefined || row.screening_round !== round) return;
  // A person or a sandbox user may have decided meanwhile; then the machine refuses and their word stands.
  moveScreening(unit, row, TRIGGERS[result.status], 'provider');
  unit.tx.defer(insertScreening, [
    recipient_id,
    round,
    row.partner_id,
    result.status,
    result.listVersion,
    vault.seal(JSON.stringify(result.hits), hitsContext(recipient_id, round)),
    unit.at,
  ]);
}
