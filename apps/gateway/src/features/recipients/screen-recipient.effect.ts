import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { openCurrent, vaultOfRecipient } from './load-recipient.ts';
import { findRecipient, lockRecipient } from './recipient.store.ts';
import { subjectOf, takeResult } from './screen-recipient.ts';
import type { ScreeningPort, ScreeningResult } from './screening/screening.port.ts';

export interface ScreenRecipientTools {
  readonly db: Database;
  readonly vaults: Vaults;
  readonly screening: ScreeningPort;
}

type Payload = { readonly recipient_id: string; readonly round: number };

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
    return { kind: 'confirmed', followUp: (unit) => takeAnswer(unit, vault, payload, result) };
  }
  return {
    kind: 'recipient.screen',
    // Until it is screened a recipient is pending and cannot be paid.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: carryOut,
    reconcile: carryOut,
  };
}

async function takeAnswer(
  unit: UnitOfWork,
  vault: Vault,
  { recipient_id, round }: Payload,
  result: ScreeningResult,
): Promise<void> {
  const [row] = await unit.tx.query(lockRecipient, [recipient_id]);
  if (row === undefined || row.screening_round !== round) return;
  takeResult(unit, row, vault, result);
}
