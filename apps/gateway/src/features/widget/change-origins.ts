import { CausewayError } from '@causeway/protocol';
import type { Reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { readOrigins } from './widget-origins.ts';
import { findWidgetOrigins, lockWidgetOrigins, setWidgetOrigins } from './widget-page.store.ts';

/** Which pages may show a partner’s widget, whoever reads or sets it: an operator, or the partner itself. */
export async function originsOfPartner(reads: Reading, partnerId: string): Promise<readonly string[]> {
  const [row] = await reads.query(findWidgetOrigins, [partnerId]);
  if (row === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
  return row.widget_origins;
}

/** Replaces all of them. */
export async function changeOrigins(
  unit: UnitOfWork,
  { sandbox, partnerId, given }: { sandbox: boolean; partnerId: string; given: readonly string[] },
): Promise<{ readonly before: string[]; readonly origins: string[] }> {
  const origins = readOrigins(given, sandbox);
  const [before] = await unit.tx.query(lockWidgetOrigins, [partnerId]);
  if (before === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
  unit.tx.defer(setWidgetOrigins, [partnerId, origins]);
  return { before: before.widget_origins, origins };
}

/** What the audit log calls it. */
export const ORIGINS_CHANGED = 'partner.widget_origins';
