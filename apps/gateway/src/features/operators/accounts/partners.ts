import { CausewayError, formatPercent, parsePercent, WHOLE_IN_MILLIONTHS } from '@causeway/protocol';
import { isChecksumAddress } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import type { Statement } from '../../../db/statement.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { randomToken, type Sealer, TOKEN_PREFIX } from '../../../lib/crypto.ts';
import type { WalletScreeningPort } from '../../../ports/wallet-screening.ts';
import { webhookSecretContext } from '../../webhooks/webhook-sender.ts';
import {
  insertPartner,
  isVendorWallet,
  lockPartner,
  type PartnerRow,
  updatePartner,
} from './accounts.store.ts';

export interface PartnerDeps {
  readonly sealer: Sealer;
  readonly chains: Pick<Chains, 'all' | 'service'>;
  readonly walletScreening: WalletScreeningPort;
}

export interface PartnerTerms {
  readonly name: string;
  readonly walletAddress: string;
  readonly platformFeePct: string | number;
  readonly fiatAccountsEnabled: boolean;
  /** Whether deposits that match no order go to the partner's master account. */
  readonly collectionEnabled: boolean;
}

/** How much may be open at a time; null where the deployment's own limit holds. */
export interface PartnerLimits {
  readonly openOrderLimit: number | null;
  readonly heldValueLimit: number | null;
  readonly customerOpenOrderLimit: number | null;
  readonly customerHeldValueLimit: number | null;
}

/** A new partner and the secret that signs its webhooks, which is shown once like a key. */
export async function openPartner(
  unit: UnitOfWork,
  deps: PartnerDeps,
  terms: PartnerTerms & { readonly settlementChain: string },
): Promise<{ readonly partner: PartnerRow; readonly webhookSecret: string }> {
  requireConnected(deps.chains, terms.settlementChain);
  const platformFeePct = readPlatformFee(terms.platformFeePct);
  await requireOwnWallet(unit, deps.chains, terms.walletAddress, isVendorWallet, 'a vendor');
  const partnerId = unit.ids.uuid();
  const webhookSecret = randomToken(TOKEN_PREFIX.webhookSecret);
  const [partner] = await unit.tx.query(insertPartner, [
    partnerId,
    terms.name,
    terms.settlementChain,
    terms.walletAddress,
    platformFeePct,
    terms.fiatAccountsEnabled,
    terms.collectionEnabled,
    deps.sealer.seal(webhookSecret, webhookSecretContext(partnerId)),
    unit.at,
  ]);
  if (partner === undefined) throw new Error('the new partner was not returned');
  return { partner, webhookSecret };
}

/** Quotes and accepted orders keep the fee and the wallet they were made with. */
export async function changePartner(
  unit: UnitOfWork,
  deps: PartnerDeps,
  partnerId: string,
  wished: Partial<PartnerTerms & PartnerLimits>,
): Promise<{ readonly before: PartnerRow; readonly after: PartnerRow }> {
  const [before] = await unit.tx.query(lockPartner, [partnerId]);
  if (before === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
  if (wished.walletAddress !== undefined) {
    await requireOwnWallet(unit, deps.chains, wished.walletAddress, isVendorWallet, 'a vendor');
  }
  const [after] = await unit.tx.query(updatePartner, [
    partnerId,
    wished.name ?? before.name,
    wished.walletAddress ?? before.wallet_address,
    wished.platformFeePct === undefined ? before.platform_fee_pct : readPlatformFee(wished.platformFeePct),
    wished.fiatAccountsEnabled ?? before.fiat_accounts_enabled,
    wished.collectionEnabled ?? before.collection_enabled,
    given(wished.openOrderLimit, before.open_order_limit),
    given(wished.heldValueLimit, before.held_value_limit),
    given(wished.customerOpenOrderLimit, before.customer_open_order_limit),
    given(wished.customerHeldValueLimit, before.customer_held_value_limit),
  ]);
  if (after === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
  return { before, after };
}

/** Null is a requested of its own: no limit of the partner's any more. */
function given(wished: number | null | undefined, before: number | null): number | null {
  return wished === undefined ? before : wished;
}

function requireConnected(chains: Pick<Chains, 'all'>, slug: string): void {
  const slugs = chains.all.map(({ settings }) => settings.slug);
  if (!slugs.includes(slug)) {
    throw invalidRequest('settlement_chain', `is not connected (connected: ${slugs.join(', ')})`);
  }
}

function readPlatformFee(value: string | number): string {
  const parsed = parsePercent(value);
  if (!parsed.ok) throw invalidRequest('platform_fee_pct', `is not a valid percentage (${parsed.reason})`);
  if (parsed.value.millionths >= WHOLE_IN_MILLIONTHS) {
    throw invalidRequest('platform_fee_pct', 'must be below 100');
  }
  return formatPercent(parsed.value);
}

/** An escrow has three different owners: the service, a partner and a vendor. */
export async function requireOwnWallet(
  unit: UnitOfWork,
  chains: Pick<Chains, 'service'>,
  address: string,
  isOthers: Statement<[walletAddress: string], { taken: boolean }>,
  other: string,
): Promise<void> {
  if (!isChecksumAddress(address)) {
    throw invalidRequest('wallet_address', 'must be an EVM address with its EIP-55 checksum');
  }
  if (address.toLowerCase() === chains.service.address.toLowerCase()) {
    throw invalidRequest('wallet_address', 'is the wallet of this service');
  }
  const [found] = await unit.tx.query(isOthers, [address]);
  if (found?.taken !== false) throw invalidRequest('wallet_address', `is the wallet of ${other}`);
}

const NAME_CONSTRAINTS = new Set(['partners_name_key', 'vendors_name_key']);

/** The database alone can say whether a name is free, since others may be writing one. */
export async function refuseTakenName<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'constraint' in error && NAME_CONSTRAINTS.has(String(error.constraint))) {
      throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'This name is taken.' });
    }
    throw error;
  }
}
