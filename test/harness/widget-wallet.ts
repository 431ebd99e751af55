import type { BrowserContext } from 'playwright-core';
import { createPublicClient, createWalletClient, defineChain, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** Where a customer’s wallet is: one chain of the sandbox. */
export interface WalletChain {
  readonly chainId: number;
  readonly rpcUrl: string;
}

interface WalletCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A customer’s wallet in the browser: it announces itself to the page as EIP-6963 has it, and signs for real. */
export interface InjectedWallet {
  readonly address: Hex;
  readonly rdns: string;
  /** All that pages asked of it, in order. */
  readonly calls: readonly WalletCall[];
  /** The next request of this method is refused, as a customer does. */
  refuseNext(method: string): void;
  /** Requests of this method are answered only after the answer of this is called. */
  hold(method: string): () => void;
  /** The wallet is on another network until it is asked to switch. */
  moveTo(chainId: number): void;
}

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

const REFUSED: Answer = { error: { code: 4001, message: 'User rejected the request.' } };
const ICON = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E';

/** Every page of this context has the wallet from now on; frames in it have none, as in real browsers. */
export async function injectWallet(
  context: BrowserContext,
  chain: WalletChain,
  { key = generatePrivateKey(), name = 'Test Wallet', rdns = 'example.test-wallet' } = {},
): Promise<InjectedWallet> {
  const wallet = createWallet(chain, key);
  const binding = `walletRequest_${rdns.replaceAll(/\W/g, '_')}`;
  await context.exposeFunction(binding, wallet.answer);
  await context.addInitScript({
    content: `(${ANNOUNCE})(${JSON.stringify({ binding, name, rdns, icon: ICON })})`,
  });
  return { ...wallet.handle, rdns };
}

function createWallet(chain: WalletChain, key: Hex) {
  const account = privateKeyToAccount(key);
  const viemChain = defineChain({
    id: chain.chainId,
    name: 'sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  });
  const transport = http(chain.rpcUrl);
  const client = createWalletClient({ account, chain: viemChain, transport });
  const node = createPublicClient({ chain: viemChain, transport });
  const calls: WalletCall[] = [];
  const refusals: string[] = [];
  const held = new Map<string, Promise<void>>();
  let network = chain.chainId;
  let isConnected = false;

  const methods: Readonly<Record<string, (params: readonly never[]) => Promise<unknown>>> = {
    eth_accounts: async () => (isConnected ? [account.address] : []),
    eth_requestAccounts: async () => {
      isConnected = true;
      return [account.address];
    },
    eth_chainId: async () => `0x${network.toString(16)}`,
    wallet_switchEthereumChain: async ([wanted]: readonly { chainId: string }[]) => {
      network = Number(wanted?.chainId);
      return null;
    },
    personal_sign: async ([message]: readonly Hex[]) =>
      account.signMessage({ message: { raw: message as Hex } }),
    eth_signTypedData_v4: async ([, typed]: readonly string[]) =>
      account.signTypedData(JSON.parse(String(typed))),
    eth_sendTransaction: async ([sent]: readonly { to: Hex; data: Hex; value?: Hex }[]) => {
      if (sent === undefined) throw new Error('there is no transaction');
      const hash = await client.sendTransaction({
        to: sent.to,
        data: sent.data,
        value: BigInt(sent.value ?? '0x0'),
      });
      await node.waitForTransactionReceipt({ hash });
      return hash;
    },
  };

  async function answer(method: string, params: readonly never[]): Promise<Answer> {
    calls.push({ method, params });
    await held.get(method);
    const refusal = refusals.indexOf(method);
    if (refusal >= 0) {
      refusals.splice(refusal, 1);
      return REFUSED;
    }
    const act = methods[method];
    if (act === undefined) return { error: { code: 4200, message: `${method} is not supported.` } };
    try {
      return { result: await act(params) };
    } catch (error) {
      return { error: { code: -32_603, message: String(error) } };
    }
  }

  const handle = {
    address: account.address,
    calls,
    refuseNext: (method: string) => void refusals.push(method),
    hold(method: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(method, promise);
      return () => {
        held.delete(method);
        resolve();
      };
    },
    moveTo: (chainId: number) => {
      network = chainId;
    },
  };
  return { answer, handle };
}

/** Runs in the page, and in no frame of it. */
const ANNOUNCE = `({ binding, ...info }) => {
  if (window.top !== window) return;
  const listeners = new Map();
  const provider = {
    async request({ method, params = [] }) {
      const answer = await window[binding](method, params);
      if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
      if (method === 'wallet_switchEthereumChain') {
        for (const listener of listeners.get('chainChanged') ?? []) listener(params[0].chainId);
      }
      return answer.result;
    },
    on(event, listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    removeListener(event, listener) {
      listeners.get(event)?.delete(listener);
    },
  };
  const detail = Object.freeze({ info: Object.freeze({ uuid: crypto.randomUUID(), ...info }), provider });
  const tell = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  window.addEventListener('eip6963:requestProvider', tell);
  tell();
}`;
