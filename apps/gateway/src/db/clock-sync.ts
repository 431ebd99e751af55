import type { MovableClock } from '../lib/clock.ts';
import { type Database, SYSTEM } from './database.ts';
import type { Listener } from './listener.ts';
import { statement } from './statement.ts';

const readOffset = statement<[], { offset_ms: string; resets: number }>(
  'clock.read_offset',
  'SELECT offset_ms::text, resets FROM business_clock',
);

/** Keeps this process's business clock where the deployment's is; `onMoved` runs after each move. */
export async function followDeploymentClock(
  db: Database,
  listener: Listener,
  clock: MovableClock,
  onMoved: () => void,
  onError: (error: unknown) => void,
): Promise<void> {
  async function follow(): Promise<void> {
    const [row] = await db.query(SYSTEM, readOffset, []);
    clock.follow({ offsetMs: Number(row?.offset_ms ?? 0), resets: row?.resets ?? 0 });
    onMoved();
  }
  const followInBackground = () => void follow().catch(onError);
  listener.onConnected(followInBackground);
  // Read only once moves are heard, or one in between would be missed.
  await listener.on('clock_changed', followInBackground);
  await follow();
}
