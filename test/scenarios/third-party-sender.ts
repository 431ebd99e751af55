import { numberToHex, parseGwei } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import type { ContractCall, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { signTransaction } from '../../apps/gateway/src/chain/transactions/transaction-rpc.ts';
import { sameAddress } from '../../apps/gateway/src/chain/watcher/chain-facts.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { callRpc } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

/** An account that is neither ours nor a partner's or a vendor's, with gas to send what others have signed. */
export interface ThirdPartySender {
  readonly address: Hex;
  send(call: ContractCall): Promise<Hex>;
  /**
   * Its call is in a block before ours, which `trigger` has signed and sent first and which reverts. By default its
   * call is the same as ours.
   */
  overtake(
    trigger: () => Promise<unknown>,
    first?: (ours: ContractCall) => ContractCall,
  ): Promise<{ readonly ours: Hex; readonly theirs: Hex }>;
  /**
   * Another transaction of the hot wallet itself takes the nonce of ours, which `trigger` has signed and sent: what a wallet
   * app does that clears a stuck transaction.
   */
  displace(
    trigger: () => Promise<unknown>,
    other?: (ours: ContractCall) => ContractCall,
  ): Promise<{ readonly ours: Hex; readonly theirs: Hex }>;
  /** So many of ours one after the other, as each is sent; answers what the last of them calls. */
  displaceAll(trigger: () => Promise<unknown>, times: number): Promise<ContractCall>;
}

/** Far above what the service offers: in such a block only the third party's transaction is mined. */
const DEAR = parseGwei('5000');
const USUAL = parseGwei('1');

const openTransaction = statement<
  [since: Date],
  { tx_hash: Hex; to_address: Hex; data: Hex; sender: Hex; nonce: number }
>(
  'test.open_transaction',
  `SELECT v.tx_hash, t.to_address, t.data, t.sender, t.nonce::int FROM chain_transactions t
     JOIN chain_signed_versions v USING (transaction_id)
    WHERE t.status = 'open' AND t.created_at >= $1 ORDER BY t.created_at DESC LIMIT 1`,
);

export async function thirdPartySender({ deps }: TestGateway, chain: string): Promise<ThirdPartySender> {
  const { client, settings } = deps.chains.get(chain);
  const account = privateKeyToAccount(generatePrivateKey());
  const rpc = (method: string, params: readonly unknown[]) => callRpc(settings.rpcUrl, method, params);
  const receiptOf = (hash: Hex) => client.getTransactionReceipt({ hash });
  await rpc('hardhat_setBalance', [account.address, numberToHex(10n ** 21n)]);

  const isInPool = async (hash: Hex) => (await rpc('eth_getTransactionByHash', [hash])) !== null;

  async function mineAt(baseFee: bigint): Promise<void> {
    await rpc('hardhat_setNextBlockBaseFeePerGas', [numberToHex(baseFee)]);
    await rpc('hardhat_mine', [numberToHex(1)]);
  }

  async function send(call: ContractCall): Promise<Hex> {
    const signed = await account.signTransaction({
      ...call,
      chainId: settings.chainId,
      type: 'eip1559',
      maxFeePerGas: DEAR * 4n,
      maxPriorityFeePerGas: DEAR,
      nonce: await client.getTransactionCount({ address: account.address }),
      gas: 3_000_000n,
    });
    return client.sendRawTransaction({ serializedTransaction: signed });
  }

  /** With the chain mining nothing until it is told to. */
  async function sentUnmined(trigger: () => Promise<unknown>) {
    const since = deps.clock.date();
    await rpc('evm_setAutomine', [false]);
    const triggered = trigger();
    const ours = await until('our transaction in the pool', async () => {
      const [row] = await deps.db.query(SYSTEM, openTransaction, [since]);
      return row && (await isInPool(row.tx_hash)) ? row : false;
    });
    return { triggered, ours };
  }

  /** The wallet's own transaction instead of ours, sent and not mined yet. */
  async function replace(ours: { sender: Hex; nonce: number }, call: ContractCall): Promise<Hex> {
    const wallet = deps.hotWallets.find(({ signer }) => sameAddress(signer.address, ours.sender));
    if (wallet === undefined) throw new Error('ours was not sent by a hot wallet');
    const unsigned = { chainId: settings.chainId, nonce: ours.nonce, call, gas: 3_000_000n };
    const fees = { maxFeePerGas: USUAL * 1_000n, maxPriorityFeePerGas: USUAL * 100n };
    const { raw } = await signTransaction(wallet.signer, unsigned, fees);
    return client.sendRawTransaction({ serializedTransaction: raw });
  }

  const nothing: ContractCall = { to: account.address, data: '0x', value: 0n };

  return {
    address: account.address,
    send,
    async overtake(trigger, first = (ours) => ours) {
      const { triggered, ours } = await sentUnmined(trigger);
      const theirs = await send(first({ to: ours.to_address, data: ours.data, value: 0n }));
      await mineAt(DEAR);
      expect((await receiptOf(theirs)).status).toBe('success');
      await expect(receiptOf(ours.tx_hash)).rejects.toThrow();
      await rpc('evm_setAutomine', [true]);
      await mineAt(USUAL);
      const reverted = await until('our transaction in a block', () =>
        receiptOf(ours.tx_hash).catch(() => false as const),
      );
      expect(reverted.status).toBe('reverted');
      await triggered;
      return { ours: ours.tx_hash, theirs };
    },
    async displace(trigger, other = () => nothing) {
      const { triggered, ours } = await sentUnmined(trigger);
      const theirs = await replace(ours, other({ to: ours.to_address, data: ours.data, value: 0n }));
      await rpc('evm_setAutomine', [true]);
      await mineAt(USUAL);
      expect((await receiptOf(theirs)).status).toBe('success');
      await triggered;
      return { ours: ours.tx_hash, theirs };
    },
    async displaceAll(trigger, times) {
      let { triggered, ours } = await sentUnmined(trigger);
      for (let turn = 1; ; turn++) {
        await replace(ours, nothing);
        if (turn === times) await rpc('evm_setAutomine', [true]);
        await rpc('hardhat_mine', [numberToHex(settings.confirmations)]);
        await triggered;
        if (turn === times) return { to: ours.to_address, data: ours.data, value: 0n };
        const { nonce } = ours;
        const next = await until('our next transaction in the pool', async () => {
          const [row] = await deps.db.query(SYSTEM, openTransaction, [new Date(0)]);
          return row && row.nonce > nonce && (await isInPool(row.tx_hash)) ? row : false;
        });
        ({ triggered, ours } = { triggered: Promise.resolve(), ours: next });
      }
    },
  };
}
