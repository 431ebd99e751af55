import { privateKeyToAccount } from 'viem/accounts';
import type { ContractCall, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { describeEscrow } from '../../apps/gateway/src/chain/escrow/escrow.ts';
import {
  batchCall,
  executionCall,
  hashSafeTransaction,
  packSignatures,
  payoutTransaction,
} from '../../apps/gateway/src/chain/escrow/safe-transaction.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import type { TestGateway } from '../harness/gateway.ts';

const CHAIN = 'base-mainnet';

type Parties = Parameters<typeof describeEscrow>[2];

const selectEscrow = statement<[orderId: string], { escrow: Parties }>(
  'test.owned_escrow',
  'SELECT escrow FROM orders WHERE order_id = $1',
);

export async function escrowOf({ deps }: TestGateway, orderId: string) {
  const [row] = await deps.db.query(SYSTEM, selectEscrow, [orderId]);
  if (row === undefined) throw new Error(`there is no order ${orderId}`);
  return describeEscrow(deps.chains.get(CHAIN).settings, orderId, row.escrow);
}

/** A transaction out of an escrow that two of its owners have signed and that is none of its order's, as a call for anyone. */
export async function ownersMove(
  gateway: TestGateway,
  orderId: string,
  { to, amount, nonce }: { readonly to: Hex; readonly amount: bigint; readonly nonce: bigint },
): Promise<ContractCall> {
  const { chains } = gateway.deps;
  const { contracts, tokens } = chains.get(CHAIN).settings;
  const escrow = await escrowOf(gateway, orderId);
  const token = tokens.find(({ code }) => code === 'USDC')!.address;
  const payout = payoutTransaction([{ token, to, amount }], contracts.multiSendCallOnly);
  const other = { ...payout, nonce };
  const hash = hashSafeTransaction(escrow, other);
  const partner = privateKeyToAccount(gateway.partners[0].walletPrivateKey as Hex);
  const signatures = [await chains.service.signDigest(hash), await partner.sign({ hash })];
  const execution = executionCall(escrow, other, await packSignatures(escrow, hash, signatures));
  return nonce === 0n
    ? batchCall([escrow.deploymentCall, execution], contracts.multiSendCallOnly)
    : execution;
}
