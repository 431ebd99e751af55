import { causewayRouter, erc2771Forwarder, safe } from '@causeway/contracts';
import { erc20Abi, getAddress, parseEventLogs, TransactionReceiptNotFoundError } from 'viem';
import { type Database, SYSTEM } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { ChainClient } from './chain-client.ts';
import type { Address, Hex } from './chain-settings.ts';
import { isDeployed, tokenBalance } from './token-reads.ts';

/** What is where on chain for one order: our records beside what the chain itself says, decoded. */
export interface InspectDeps {
  readonly db: Database;
  readonly clientOf: (chainId: number) => ChainClient | undefined;
}

interface WatchRow {
  chain_id: string;
  address: Address;
  token: Address;
  expected_amount: string;
  expected_sender: Address;
  caught_up: boolean;
}
interface DepositRow {
  tx_hash: Hex;
  kind: string;
  disposition: string;
  amount: string;
  sender: Address;
  token: Address;
  block_number: string;
  note: string;
}
interface AuthorizationRow {
  purpose: string;
  status: string;
  sender: Address;
  nonce: string;
  amount: string;
  recipient: Address;
  deadline: string;
  tx_hash: Hex | null;
}
interface TransactionRow {
  chain_id: string;
  effect_key: string;
  status: string;
  sender: Address;
  nonce: string;
  tx_hash: Hex;
  version: number;
}

const selectWatches = statement<[orderId: string], WatchRow>(
  'inspect.watches',
  `SELECT chain_id::text, address, token, expected_amount::text, expected_sender, caught_up
     FROM escrow_watches WHERE order_id = $1 ORDER BY chain_id`,
);
const selectDeposits = statement<[orderId: string], DepositRow>(
  'inspect.deposits',
  `SELECT tx_hash, kind, disposition, amount::text, sender, token, block_number::text, note
     FROM deposit_observations WHERE order_id = $1 ORDER BY block_number, log_index`,
);
const selectAuthorizations = statement<[orderId: string], AuthorizationRow>(
  'inspect.authorizations',
  `SELECT purpose, status, sender, nonce::text, amount::text, recipient, deadline::text, tx_hash
     FROM forward_authorizations WHERE order_id = $1 ORDER BY issued_at`,
);
const selectTransactions = statement<[orderId: string], TransactionRow>(
  'inspect.transactions',
  `SELECT chain_id::text, effect_key, status, sender, nonce::text, tx_hash, version::int
     FROM chain_transactions JOIN chain_signed_versions USING (transaction_id)
    WHERE effect_key IN (SELECT intent_id::text FROM intents WHERE payload->>'order_id' = $1::text)
       OR effect_key IN (SELECT 'forward:' || authorization_id FROM forward_authorizations WHERE order_id = $1::uuid)
       OR effect_key = 'sandbox-funding:' || $1::text
    ORDER BY created_at, version`,
);

/** Lines for a person to read. */
export async function inspectOrder(deps: InspectDeps, orderId: string): Promise<string[]> {
  const { db } = deps;
  const [watches, deposits, authorizations, transactions] = await Promise.all([
    db.query(SYSTEM, selectWatches, [orderId]),
    db.query(SYSTEM, selectDeposits, [orderId]),
    db.query(SYSTEM, selectAuthorizations, [orderId]),
    db.query(SYSTEM, selectTransactions, [orderId]),
  ]);
  const lines = [`Order ${orderId}`];
  if (watches.length === 0) lines.push('No escrow is registered.');
  for (const watch of watches) lines.push(...(await escrowLines(deps, watch)));
  for (const row of deposits) {
    lines.push(
      `Deposit ${row.kind} (${row.disposition}): ${row.amount} of ${row.token} from ${row.sender}`,
      `  block ${row.block_number}, ${row.tx_hash}${row.note === '' ? '' : `, ${row.note}`}`,
    );
  }
  for (const row of authorizations) {
    lines.push(
      `Authorization ${row.purpose} (${row.status}): ${row.amount} from ${row.sender} to ${row.recipient}`,
      `  nonce ${row.nonce}, deadline ${row.deadline}${row.tx_hash === null ? '' : `, ${row.tx_hash}`}`,
    );
  }
  for (const row of transactions) lines.push(...(await transactionLines(deps, row)));
  return lines;
}

async function escrowLines(deps: InspectDeps, watch: WatchRow): Promise<string[]> {
  const { chain_id: chainId, address, token, expected_amount: expected } = watch;
  const lines = [
    `Escrow ${address} on chain ${chainId}`,
    `  expects ${expected} of ${token} from ${watch.expected_sender}`,
  ];
  const client = deps.clientOf(Number(chainId));
  if (client === undefined) return [...lines, '  this chain is not configured here'];
  lines.push(`  holds ${await tokenBalance(client, token, address)}`);
  if (!(await isDeployed(client, address))) return [...lines, '  not deployed: nothing has left it'];
  const [nonce, owners] = await Promise.all([
    client.readContract({ abi: safe.abi, address, functionName: 'nonce' }),
    client.readContract({ abi: safe.abi, address, functionName: 'getOwners' }),
  ]);
  return [...lines, `  deployed, Safe nonce ${nonce}, owners ${owners.join(', ')}`];
}

async function transactionLines(deps: InspectDeps, row: TransactionRow): Promise<string[]> {
  const head = `Transaction ${row.tx_hash} (${row.status}) version ${row.version}`;
  const lines = [head, `  from ${row.sender} nonce ${row.nonce}, effect ${row.effect_key}`];
  const client = deps.clientOf(Number(row.chain_id));
  if (client === undefined) return lines;
  try {
    const receipt = await client.getTransactionReceipt({ hash: row.tx_hash });
    lines.push(`  ${receipt.status} in block ${receipt.blockNumber}, gas ${receipt.gasUsed}`);
    const abi = [...erc20Abi, ...safe.abi, ...causewayRouter.abi, ...erc2771Forwarder.abi];
    for (const log of parseEventLogs({ abi, logs: receipt.logs })) {
      lines.push(`  ${log.eventName} at ${getAddress(log.address)}: ${argumentsText(log.args)}`);
    }
  } catch (error) {
    if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
    lines.push('  not mined');
  }
  return lines;
}

function argumentsText(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  return Object.entries(args)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
