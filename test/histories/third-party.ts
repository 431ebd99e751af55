import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWalletClient, type Hex, http, parseTransaction } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ContractCall } from '../../apps/gateway/src/chain/chain-settings.ts';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import { oneAtATime } from '../scenarios/orders-driver.ts';

/**
 * Somebody between the service and a chain's node who reads every transaction before it is mined, as anyone can in a public
 * pool, and may be first.
 */
export interface ThirdParty {
  /** Where the service finds its node. */
  readonly url: string;
  /** Sends a call of its own; answers whether it succeeded. */
  send(call: ContractCall): Promise<boolean>;
  /** When the service next sends something about this escrow, this comes first: the same call, or another. */
  overtake(escrow: string, other?: ContractCall): void;
  /** How often it was first and succeeded. */
  readonly wasFirst: () => number;
  stop(): Promise<void>;
}

interface ThirdPartyOptions {
  readonly slug: string;
  readonly chainId: number;
  readonly node: string;
  /** A vendor's own transfer to an escrow is worth nothing to anybody else. */
  readonly tokens: readonly string[];
}

const GAS = 3_000_000n;
const ETHER = 10n ** 22n;

export async function startThirdParty({
  slug,
  chainId,
  node,
  tokens,
}: ThirdPartyOptions): Promise<ThirdParty> {
  const account = privateKeyToAccount(generatePrivateKey());
  const chain = viemChain(slug, chainId, node);
  const wallet = createWalletClient({ account, chain, transport: http(node) });
  const plans = new Map<string, ContractCall | undefined>();
  const inTurn = oneAtATime();
  const knownTokens = new Set(tokens.map((token) => token.toLowerCase()));
  let successes = 0;
  await callRpc(node, 'hardhat_setBalance', [account.address, `0x${ETHER.toString(16)}`]);

  const send = ({ to, data, value }: ContractCall): Promise<boolean> =>
    inTurn(async () => {
      const nonce = Number(await callRpc(node, 'eth_getTransactionCount', [account.address, 'latest']));
      const hash = await wallet.sendTransaction({ to, data, value, nonce, gas: GAS });
      const receipt = (await callRpc(node, 'eth_getTransactionReceipt', [hash])) as { status: Hex } | null;
      return receipt?.status === toQuantity(1);
    });

  async function seen(raw: Hex): Promise<void> {
    const { to, data, value = 0n } = parseTransaction(raw);
    if (!to || data === undefined || knownTokens.has(to.toLowerCase())) return;
    const escrow = [...plans.keys()].find((address) => `${to}${data}`.toLowerCase().includes(address));
    if (escrow === undefined) return;
    const other = plans.get(escrow);
    plans.delete(escrow);
    if (await send(other ?? { to, data, value })) successes++;
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      pass(Buffer.concat(chunks).toString()).then(
        (answer) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
        () => response.writeHead(502).end(),
      );
    });
  });

  async function pass(body: string): Promise<string> {
    if (plans.size > 0 && body.includes('eth_sendRawTransaction')) {
      const asked = [JSON.parse(body)].flat() as { method: string; params: [Hex] }[];
      for (const { method, params } of asked) if (method === 'eth_sendRawTransaction') await seen(params[0]);
    }
    const answer = await fetch(node, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return answer.text();
  }

  await listening(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    send,
    overtake: (escrow, other) => plans.set(escrow.slice(2).toLowerCase(), other),
    wasFirst: () => successes,
    stop: () => new Promise((resolve) => server.close(() => resolve()) && server.closeAllConnections()),
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
}
