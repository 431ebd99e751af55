import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/**
 * A wallet on a sandbox’s chain, as vendors have one.
 *
 * node examples/wallet.mjs new                   draws a key: { "private_key", "address" }
 * node examples/wallet.mjs sign <key>            signs the signing-parameters at its input
 * node examples/wallet.mjs fund <key>            pays the escrow of the vendor's order at its input
 */
// biome-ignore lint/style/noProcessEnv: a program of its own.
const home = process.env.CAUSEWAY_HOME ?? '.causeway';
const sandbox = JSON.parse(await readFile(`${home}/sandbox.json`, 'utf8'));
const [settlement] = sandbox.chains;

async function walletOf(key) {
  const { createWalletClient, defineChain, http, publicActions } = await import('viem');
  const chain = defineChain({
    id: settlement.chain_id,
    name: settlement.slug,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [settlement.rpc_url] } },
  });
  const account = privateKeyToAccount(key);
  return createWalletClient({ account, chain, transport: http(), pollingInterval: 100 }).extend(
    publicActions,
  );
}

async function send(wallet, token, to, amount) {
  const { erc20Abi } = await import('viem');
  const args = [to, amount];
  const hash = await wallet.writeContract({ abi: erc20Abi, address: token, functionName: 'transfer', args });
  await wallet.waitForTransactionReceipt({ hash });
  return hash;
}

const COMMANDS = {
  new() {
    const key = generatePrivateKey();
    return JSON.stringify({ private_key: key, address: privateKeyToAccount(key).address });
  },
  async sign(key) {
    const { typed_data: typedData } = JSON.parse(await text(process.stdin));
    return privateKeyToAccount(key).signTypedData(typedData);
  },
  async fund(key) {
    const { funding } = JSON.parse(await text(process.stdin));
    return send(
      await walletOf(key),
      funding.token_address,
      funding.escrow_address,
      BigInt(funding.amount_atomic),
    );
  },
};

const [command, given] = process.argv.slice(2);
if (COMMANDS[command] === undefined) throw new Error('Usage: wallet.mjs new | sign | fund');
console.log(await COMMANDS[command](given));
