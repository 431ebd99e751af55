import type { WalletInfo } from '@causeway/protocol/widget';
import { beforeEach, describe, expect, it } from 'vitest';
import { setHost, type WalletEventListener } from './host.ts';
import { connection, connectWallet, forgetWallet, switchChain, wallets, watchWallets } from './wallet.ts';

const WALLET: WalletInfo = { uuid: 'one', name: 'A wallet', icon: '', rdns: 'example.wallet' };
const ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** A wallet as a page has it: what it answers is set by the test. */
const answers: Record<string, unknown> = {};
const asked: unknown[] = [];
let announce: (found: readonly WalletInfo[]) => void = () => undefined;
let tell: WalletEventListener = () => undefined;
setHost({
  kind: 'page',
  send: () => undefined,
  onSettings: () => undefined,
  wallets: () => [WALLET],
  onWallets: (listener) => {
    announce = listener;
  },
  request: async (wallet, method, params) => {
    asked.push([wallet, method, params]);
    const answer = answers[method];
    if (answer instanceof Error) throw answer;
    return answer;
  },
  onWalletEvent: (listener) => {
    tell = listener;
  },
  leave: () => undefined,
});
watchWallets();

const refusal = (code: number, data?: unknown) => Object.assign(new Error('refused'), { code, data });

describe('a wallet', () => {
  beforeEach(() => {
    forgetWallet();
    asked.length = 0;
    Object.assign(answers, { eth_requestAccounts: [ACCOUNT], eth_chainId: '0x2105' });
  });

  it('is connected with its account and chain', async () => {
    expect(wallets.value).toEqual([WALLET]);
    await connectWallet(WALLET);
    expect(connection.value).toEqual({ wallet: WALLET, address: ACCOUNT, chainId: 8453 });
  });

  it.each([
    ['rejected', refusal(4001)],
    ['rejected', refusal(-32603, { originalError: { code: 4001 } })],
    ['pending', refusal(-32002)],
    ['failed', refusal(-32000)],
    ['failed', new Error('a word')],
    ['noAccount', []],
    ['noAccount', ['no address']],
    ['noAccount', null],
  ])('that does not give an account: %s', async (problem, answer) => {
    answers.eth_requestAccounts = answer;
    await expect(connectWallet(WALLET)).rejects.toMatchObject({ problem, wallet: 'A wallet' });
    expect(connection.value).toBeNull();
  });

  it('is asked to change to the chain, and says where it does not know it', async () => {
    const connected = await connectWallet(WALLET);
    answers.wallet_switchEthereumChain = refusal(4902);
    await expect(switchChain(connected, 42161)).rejects.toMatchObject({ problem: 'unknownChain' });
    answers.wallet_switchEthereumChain = null;
    answers.eth_chainId = '0xa4b1';
    await switchChain(connected, 42161);
    expect(asked).toContainEqual(['one', 'wallet_switchEthereumChain', [{ chainId: '0xa4b1' }]]);
    expect(connection.value?.chainId).toBe(42161);
  });

  it('is followed: another account, another chain, another announcement, gone', async () => {
    await connectWallet(WALLET);
    tell('chainChanged', 'one', '0x1');
    tell('accountsChanged', 'one', [ACCOUNT.toLowerCase()]);
    tell('disconnect', 'another', null);
    expect(connection.value).toEqual({ wallet: WALLET, address: ACCOUNT.toLowerCase(), chainId: 1 });
    announce([{ ...WALLET, uuid: 'two' }]);
    expect(connection.value?.wallet.uuid).toBe('two');
    tell('accountsChanged', 'two', []);
    expect(connection.value).toBeNull();
  });

  it('stays connected while it is listed, whatever another one calls itself', async () => {
    await connectWallet(WALLET);
    announce([{ ...WALLET, uuid: 'two', name: 'Another of the name' }, WALLET]);
    expect(connection.value?.wallet).toEqual(WALLET);
    const nameless = { ...WALLET, rdns: '' };
    await connectWallet(nameless);
    announce([{ ...nameless, uuid: 'two' }]);
    expect(connection.value?.wallet).toEqual(nameless);
  });
});
