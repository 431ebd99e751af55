import type { SolverConduct } from '../../chain/simulated-bridge.store.ts';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const readAutoAdvance = statement<[partnerId: string], { auto_advance: boolean }>(
  'sandbox.read_auto_advance',
  'SELECT auto_advance FROM partners WHERE partner_id = $1',
);

export const setAutoAdvance = statement<[partnerId: string, autoAdvance: boolean]>(
  'sandbox.set_auto_advance',
  'UPDATE partners SET auto_advance = $2 WHERE partner_id = $1',
);

export async function autoAdvances(db: Database, partnerId: string): Promise<boolean> {
  const [row] = await db.query(SYSTEM, readAutoAdvance, [partnerId]);
  return row?.auto_advance ?? false;
}

const readAutoAdvanceOfWallet = statement<[walletAddress: string], { auto_advance: boolean }>(
  'sandbox.read_auto_advance_of_wallet',
  'SELECT bool_and(auto_advance) AS auto_advance FROM partners WHERE lower(wallet_address) = lower($1)',
);

/** The bridge's solver pays by itself where simulated people may act; elsewhere it waits to be told. */
export async function solverConduct(db: Database, wallet: string): Promise<SolverConduct> {
  const [row] = await db.query(SYSTEM, readAutoAdvanceOfWallet, [wallet]);
  return row?.auto_advance === false ? 'waits' : 'pays';
}
