import { CausewayError, type DetailsOf } from '@causeway/protocol';
import { type Address, toChecksumAddress } from '../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../chain/chains.ts';
import { canSign } from '../../chain/token-reads.ts';
import type { HotWallet } from '../../chain/transactions/hot-wallets.ts';
import { answered } from '../../chain/transactions/transaction-rpc.ts';
import { sameAddress } from '../../chain/watcher/chain-facts.ts';
import { SYSTEM } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import type { Direction } from '../../ports/offers.ts';
import { requireClearWallet, type WalletDeps } from '../screening/screen-wallet.ts';
import { usesOfWallet } from './widget-order.store.ts';

export interface CustomerWalletDeps extends UnitDeps, WalletDeps {
  readonly chains: Chains;
  readonly hotWallets: readonly HotWallet[];
}

type Reason = DetailsOf<'WALLET_NOT_ALLOWED'>['reason'];

const MESSAGES: Readonly<Record<Reason, string>> = {
  checksum: 'This is not an address with a right checksum; copy it again.',
  zero_address: 'The zero address belongs to nobody; what is sent there is lost.',
  service_address: 'This address belongs to the service; use a wallet of your own.',
  contract: 'This address is a contract, which cannot sign the transfer; use a wallet with a key of its own.',
  vendor_wallet: 'This wallet belongs to a vendor; use a wallet of your own.',
  partner_wallet: 'This wallet belongs to another partner; use a wallet of your own.',
  escrow: 'This address is the escrow of an order; use a wallet of your own.',
};

function notAllowed(reason: Reason): CausewayError {
  return new CausewayError('WALLET_NOT_ALLOWED', { message: MESSAGES[reason], details: { reason } });
}

/**
 * Takes a customer's wallet into use, or refuses it: it will own a third of an escrow, so it must be able to sign, be none
 * of those that the escrow has already, and be screened clear. Asked before the order's transaction, because the chain and
 * the screening may be elsewhere.
 */
export async function takeCustomerWallet(
  deps: CustomerWalletDeps,
  partner: { readonly partnerId: string; readonly chain: string },
  direction: Direction,
  text: string,
): Promise<Address> {
  const wallet = readWallet(text);
  if (serviceAddresses(deps).some((one) => sameAddress(one, wallet))) throw notAllowed('service_address');
  const chainIds = deps.chains.all.map(({ settings }) => settings.chainId);
  const [uses] = await deps.db.query(SYSTEM, usesOfWallet, [wallet, partner.partnerId, chainIds]);
  if (uses?.of_vendor) throw notAllowed('vendor_wallet');
  if (uses?.of_partner) throw notAllowed('partner_wallet');
  if (uses?.of_escrow) throw notAllowed('escrow');
  // On-ramp a contract can be paid; off-ramp it could not sign what pays the order. The partner's own wallet signs all the time.
  if (direction === 'offramp' && uses?.of_own_partner !== true)
    await requireKey(deps.chains.get(partner.chain), wallet);
  await requireClearWallet(deps, wallet);
  return wallet;
}

function readWallet(text: string): Address {
  if (/^0x0{40}$/i.test(text)) throw notAllowed('zero_address');
  const wallet = toChecksumAddress(text);
  if (wallet === undefined) throw notAllowed('checksum');
  return wallet;
}

/** On every chain: an address that is ours on one is not a customer's on another. */
function serviceAddresses({ chains, hotWallets }: CustomerWalletDeps): readonly string[] {
  return [
    chains.service.address,
    ...hotWallets.map(({ signer }) => signer.address),
    ...chains.all.flatMap(({ settings }) => [
      settings.treasury,
      ...Object.values(settings.contracts),
      ...settings.tokens.map(({ address }) => address),
    ]),
  ];
}

async function requireKey({ client }: ConnectedChain, wallet: Address): Promise<void> {
  const isSigner = await answered(canSign(client, wallet)).catch((cause: unknown) => {
    throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause });
  });
  if (!isSigner) throw notAllowed('contract');
}
