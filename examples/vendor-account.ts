import { privateKeySigner, trustOfChain } from '@causeway/sdk/signing';
import { causeway, clientWith, sandbox, say } from './sandbox.ts';
import { vendorWallet } from './wallet.ts';

/** A new vendor of a sandbox with a wallet, a key and offers both ways. Yours has all of this in its configuration. */
export async function newVendor() {
  // The wallet needs coin for gas and the tokens that it sells. Its key stays here.
  const wallet = vendorWallet();
  const [chain] = sandbox.chains;
  if (chain === undefined) throw new Error('The sandbox has no chain.');
  for (const [token, amount] of Object.entries({ native: '0.1', USDC: '10000' }))
    await causeway.sandbox.faucet({ chain: chain.slug, token, address: wallet.address, amount });

  // The operator takes the vendor on, and looks at every offer before orders are matched with it.
  const { operator } = clientWith(sandbox.operator_key);
  const name = `Bot ${wallet.address.slice(0, 10)}`;
  const { vendor_key } = await operator.vendors.create({ name, kind: 'p2p', wallet_address: wallet.address });
  const { vendor } = clientWith(vendor_key.key);
  const offers = await Promise.all(
    ['SELL', 'BUY'].map((side) =>
      vendor.offers.create({
        side,
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        margin_pct: '0',
        min_amount: '700',
        max_amount: '800',
        available_balance: '10000',
        countries: ['DE'],
        payment_options: [{ network_slug: 'iban-sepa' }],
      }),
    ),
  );
  for (const { offer_id } of offers)
    await operator.offers.decideAuthorization(offer_id, { authorized: true, reason: 'contract signed' });
  say('online', `${name} trades USDC for 700 to 800 EUR`);

  return {
    vendor,
    wallet,
    signer: privateKeySigner(wallet.key),
    /** What is held against everything that is to be signed. On public chains you write it yourself. */
    trust: trustOfChain(chain, wallet.address),
    async leave(served: number): Promise<void> {
      for (const { offer_id } of offers) await vendor.offers.withdraw(offer_id);
      await vendor.setOnline({ online: false });
      say('offline', `orders served: ${served}`);
    },
  };
}
