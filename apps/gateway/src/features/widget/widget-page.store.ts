import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

interface PartnerOfSession {
  readonly partner_name: string;
  readonly widget_origins: string[];
}

const partnerOfSession = statement<[sessionId: string, at: Date], PartnerOfSession>(
  'widget_sessions.partner',
  `SELECT p.name AS partner_name, p.widget_origins FROM widget_sessions s JOIN partners p USING (partner_id)
    WHERE s.session_id = $1 AND s.expires_at > $2 AND s.ended_at IS NULL`,
);

/** Whose session it is, while it lasts: asked before anybody has shown that it may open it, so no more is read than that. */
export async function findPartnerOfSession(
  db: Database,
  sessionId: string,
  at: Date,
): Promise<PartnerOfSession | undefined> {
  const [found] = await db.query(SYSTEM, partnerOfSession, [sessionId, at]);
  return found;
}

const ORIGINS = 'SELECT widget_origins FROM partners WHERE partner_id = $1';

export const findWidgetOrigins = statement<[partnerId: string], { widget_origins: string[] }>(
  'widget.find_widget_origins',
  ORIGINS,
);

export const lockWidgetOrigins = statement<[partnerId: string], { widget_origins: string[] }>(
  'widget.lock_widget_origins',
  `${ORIGINS} FOR UPDATE`,
);

export const setWidgetOrigins = statement<[partnerId: string, origins: readonly string[]]>(
  'widget.set_widget_origins',
  'UPDATE partners SET widget_origins = $2::text[] WHERE partner_id = $1',
);
