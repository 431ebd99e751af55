import { text } from 'node:stream/consumers';
import type { VendorOrderDetail, VendorSigning } from '@causeway/sdk';
import { hashTypedData, reviewVendorFunding, trustOfChain } from '@causeway/sdk/signing';
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sandbox } from './sandbox.ts';

/**
 * A wallet on a sandbox’s chain, as vendors have one, with viem: it signs what an escrow may do, and pays into escrows.
 *
 * npx node examples/wallet.ts new          draws a key: { "private_key", "address" }
 * npx node examples/wallet.ts sign <key>   signs the signing-parameters at its input
 * npx node examples/wallet.ts fund <key>   pays the escrow of the vendor's order at its input
 */
const [settlement] = sandbox.chains;
if (settlement === undefined) throw new Error('The sandbox has no chain.');
const settlementChain = settlement;
const chain = defineChain({
  id: settlement.chain_id,
  name: settlement.slug,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [settlement.rpc_url] } },
});

export function vendorWallet(key: string = generatePrivateKey()) {
  const account = privateKeyToAccount(key as Hex);
  const client = createWalletClient({ account, chain, transport: http(), pollingInterval: 100 });
  const wallet = client.extend(publicActions);
  const trust = trustOfChain(settlementChain, account.address);
  return {
    key,
    address: account.address,

    /** The Safe's typed data, for this chain and the hash that it is said to have. */
    async sign({ typed_data, safe_tx_hash: hash }: VendorSigning): Promise<string> {
      const verifyingContract = typed_data.domain.verifyingContract as Hex;
      const typedData = { ...typed_data, domain: { ...typed_data.domain, verifyingContract } };
      if (typedData.domain.chainId !== chain.id || hashTypedData(typedData) !== hash)
        throw new Error('Not signed: it is for another chain, or not what it is said to be.');
      return account.signTypedData(typedData);
    },

    /** Exactly the amount, in one transfer, into the escrow that follows from the order; refused if anything differs. */
    async fund(order: VendorOrderDetail): Promise<string> {
      const { transaction } = reviewVendorFunding({ order, trust });
      const hash = await wallet.sendTransaction({ to: transaction.to, data: transaction.data });
      await wallet.waitForTransactionReceipt({ hash });
      return hash;
    },
  };
}

if (import.meta.main) {
  const [command = '', key] = process.argv.slice(2);
  const wallet = vendorWallet(key);
  const run = {
    new: () => JSON.stringify({ private_key: wallet.key, address: wallet.address }),
    sign: async () => wallet.sign(JSON.parse(await text(process.stdin))),
    fund: async () => wallet.fund(JSON.parse(await text(process.stdin))),
  }[command];
  if (run === undefined) throw new Error('Usage: wallet.ts new | sign <key> | fund <key>');
  console.log(await run());
}
