import { testOutcomeOf } from '@causeway/protocol';
import type { SolverConduct } from '../../chain/bridge/simulated-bridge.store.ts';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { type Sealer, sha256Hex } from '../../lib/crypto.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import { type SeededUser, seedConsoleUsers } from '../console/seed-users.ts';
import { vendorKeyContext } from '../vendors/simulated-vendor.ts';
import { webhookSecretContext } from '../webhooks/webhook-sender.ts';

/** The partners, vendors and keys a sandbox begins with. Seeding again changes nothing. */
export interface SandboxSeed {
  readonly operatorKey: string;
  readonly console: readonly SeededUser[];
  readonly settlementChain: string;
  readonly platformFeePct: string;
  readonly partners: readonly {
    readonly id: string;
    readonly name: string;
    readonly apiKey: string;
    readonly widgetKey: string;
    readonly webhookSecret: string;
    readonly walletAddress: string;
    readonly fiatAccountsEnabled: boolean;
  }[];
  readonly vendors: readonly {
    readonly id: string;
    readonly name: string;
    readonly apiKey: string;
    readonly walletAddress: string;
    readonly walletKey: string;
    readonly kind: 'p2p' | 'direct';
    readonly reputation: {
      readonly completedOrders: number;
      readonly failedOrders: number;
      readonly disputedOrders: number;
    };
  }[];
}

const seedPartner = statement<
  [
    partnerId: string,
    name: string,
    settlementChain: string,
    walletAddress: string,
    platformFeePct: string,
    fiatAccountsEnabled: boolean,
    webhookSecretSealed: string,
    at: Date,
  ]
>(
  'sandbox.seed_partner',
  `INSERT INTO partners (partner_id, name, settlement_chain, wallet_address, platform_fee_pct, fiat_accounts_enabled,
     webhook_secret_sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
);

const seedVendor = statement<
  [
    vendorId: string,
    name: string,
    walletAddress: string,
    keySealed: string,
    at: Date,
    kind: string,
    completedOrders: number,
    failedOrders: number,
    disputedOrders: number,
  ]
>(
  'sandbox.seed_vendor',
  `INSERT INTO vendors (vendor_id, name, wallet_address, simulated_key_sealed, created_at, kind, completed_orders,
     failed_orders, disputed_orders)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
);

const seedKey = statement<
  [keyId: string, kind: string, ownerId: string | null, keyHash: string, hint: string, at: Date]
>(
  'sandbox.seed_key',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, label, created_at)
   VALUES ($1, $2, $3, $4, $5, 'sandbox', $6) ON CONFLICT DO NOTHING`,
);

const findPartner = statement<[partnerId: string], { partner_id: string }>(
  'sandbox.find_partner',
  'SELECT partner_id FROM partners WHERE partner_id = $1',
);

export async function seedSandbox(
  deps: { readonly db: Database; readonly ids: IdGenerator; readonly sealer: Sealer; readonly at: Date },
  seed: SandboxSeed,
): Promise<void> {
  const { ids, sealer, at } = deps;
  await deps.db.transaction(SYSTEM, async (tx) => {
    const addKey = (kind: string, ownerId: string | null, key: string) =>
      tx.defer(seedKey, [ids.uuid(), kind, ownerId, sha256Hex(key), keyHint(key), at]);
    addKey('operator', null, seed.operatorKey);
    for (const partner of seed.partners) {
      tx.defer(seedPartner, [
        partner.id,
        partner.name,
        seed.settlementChain,
        partner.walletAddress,
        seed.platformFeePct,
        partner.fiatAccountsEnabled,
        sealer.seal(partner.webhookSecret, webhookSecretContext(partner.id)),
        at,
      ]);
      addKey('partner', partner.id, partner.apiKey);
      addKey('widget', partner.id, partner.widgetKey);
    }
    for (const vendor of seed.vendors) {
      const keySealed = sealer.seal(vendor.walletKey, vendorKeyContext(vendor.id));
      tx.defer(seedVendor, [
        vendor.id,
        vendor.name,
        vendor.walletAddress,
        keySealed,
        at,
        vendor.kind,
        vendor.reputation.completedOrders,
        vendor.reputation.failedOrders,
        vendor.reputation.disputedOrders,
      ]);
      addKey('vendor', vendor.id, vendor.apiKey);
    }
  });
  await seedConsoleUsers(deps, seed.console);
  for (const partner of seed.partners) {
    if ((await deps.db.query(SYSTEM, findPartner, [partner.id])).length === 0) {
      throw new Error(
        'This database was seeded by another sandbox. Use its CAUSEWAY_HOME, or give this one an empty database.',
      );
    }
  }
}

/** Enough to recognise a key by, too little to use it. */
function keyHint(key: string): string {
  return `${key.slice(0, key.lastIndexOf('_') + 1)}…${key.slice(-4)}`;
}

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

/** The bridge's solver acts by itself where simulated actors may, as test values ask; elsewhere it waits to be told. */
export async function solverConduct(db: Database, wallet: string, recipient: string): Promise<SolverConduct> {
  const [row] = await db.query(SYSTEM, readAutoAdvanceOfWallet, [wallet]);
  if (row?.auto_advance === false) return 'waits';
  return testOutcomeOf('bridge_destination', (value) => value === recipient.toLowerCase()) ?? 'pays';
}
