import { causewayRouter, erc2771Forwarder, safe } from '@causeway/contracts';
import { formatFixed } from '@causeway/protocol';
import { BaseError, erc20Abi, parseEventLogs, TransactionReceiptNotFoundError } from 'viem';
import type { Database } from '../../db/database.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { isDeployed, tokenBalance } from '../token-reads.ts';
import { sameAddress } from '../watcher/chain-facts.ts';
import {
  type InspectedAuthorization,
  type InspectedOrder,
  type OrderRecords,
  readRecords,
} from './inspect-order.store.ts';

/** What is where on chain for one order: our records beside what the chain itself says, for a person to read. */
export interface InspectDeps {
  readonly db: Database;
  readonly chains: readonly InspectedChain[];
}

export interface InspectedChain {
  readonly slug: string;
  readonly chainId: number;
  readonly client: ChainClient;
  readonly treasury?: Address;
}

const EVENTS = [...erc20Abi, ...safe.abi, ...causewayRouter.abi, ...erc2771Forwarder.abi];

/** Undefined where there is no such order. */
export async function inspectOrder(deps: InspectDeps, orderId: string): Promise<string[] | undefined> {
  const records = await readRecords(deps.db, orderId);
  if (records === undefined) return undefined;
  const words = wordsFor(deps, records);
  const sections = [
    headLines(orderId, records),
    await escrowLines(deps, records, words),
    depositLines(records, words),
    records.authorizations.flatMap((row) => authorizationLines(row, words)),
    await transactionSection(deps, records, words),
    openLines(records),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, '']);
}

/** How addresses and amounts are called in this order: names where it has them, so that no hex has to be compared by eye. */
interface Words {
  name(address: Address): string;
  amount(token: Address, atomic: bigint | string): string;
}

function wordsFor({ chains }: InspectDeps, { order, watches, authorizations }: OrderRecords): Words {
  const opener = openerOf(order);
  const [seller, buyer] = order.direction === 'onramp' ? ['vendor', opener] : [opener, 'vendor'];
  const treasury = order.escrow?.treasury ?? chains.find(({ slug }) => slug === order.chain)?.treasury;
  const names: (readonly [Address | undefined, string])[] = [
    [order.escrow?.address, 'escrow'],
    [order.escrow?.service, 'service'],
    [order.escrow?.seller, seller as string],
    [order.escrow?.buyer, buyer as string],
    [treasury, 'treasury'],
    [order.escrow?.partner, 'partner'],
    ...authorizations
      .filter(({ purpose }) => purpose === 'bridge')
      .map(({ recipient }) => [recipient, 'bridge solver'] as const),
  ];
  const tokens = watches.map(({ token }) => token);
  return {
    name: (address) =>
      names.find(([known]) => known !== undefined && sameAddress(known, address))?.[1] ?? address,
    amount: (token, atomic) =>
      tokens.some((known) => sameAddress(known, token))
        ? `${formatFixed(BigInt(atomic), order.crypto_decimals)} ${order.crypto_currency}`
        : `${atomic} atomic units of ${token}`,
  };
}

/** Who owns the partner's side of the escrow. */
function openerOf({ escrow }: Pick<InspectedOrder, 'escrow'>): 'customer' | 'partner' {
  return escrow?.partner === undefined ? 'partner' : 'customer';
}

function headLines(orderId: string, { order }: OrderRecords): string[] {
  const kind = order.direction === 'onramp' ? 'On-ramp' : 'Off-ramp';
  return [
    `${kind} order ${orderId}`,
    `  ${order.status}${order.held ? ', HELD FOR REVIEW' : ''}, settles in ${order.crypto_currency} on ${order.chain}`,
  ];
}

async function escrowLines(deps: InspectDeps, records: OrderRecords, words: Words): Promise<string[]> {
  const { order, watches } = records;
  const [watch] = watches;
  if (watch === undefined)
    return ['Escrow', '  none yet: no vendor has accepted, so it cannot have been paid into'];
  const lines = [
    `Escrow ${watch.address}`,
    `  for ${words.amount(watch.token, watch.expected_amount)} from the ${words.name(watch.expected_sender)}`,
  ];
  const chain = deps.chains.find(({ chainId }) => chainId === Number(watch.chain_id));
  if (chain === undefined) return [...lines, `  chain ${watch.chain_id} is not configured here`];
  try {
    const balance = await tokenBalance(chain.client, watch.token, watch.address);
    lines.push(
      `  holds ${words.amount(watch.token, balance)} now`,
      ...(await safeLines(chain, watch.address)),
    );
  } catch (error) {
    lines.push(unreachable(error, chain));
  }
  return [...lines, ...ownerLines(order)];
}

async function safeLines({ client }: InspectedChain, address: Address): Promise<string[]> {
  if (!(await isDeployed(client, address))) return ['  not deployed yet: nothing has left it'];
  const nonce = await client.readContract({ abi: safe.abi, address, functionName: 'nonce' });
  return [
    nonce === 0n
      ? '  deployed, and nothing has left it'
      : `  has paid out: ${nonce === 1n ? 'one transaction' : `${nonce} transactions`} executed`,
  ];
}

function ownerLines({ escrow, direction }: InspectedOrder): string[] {
  if (escrow === null) return [];
  const isOnramp = direction === 'onramp';
  const fee = escrow.partner === undefined ? [] : [`  the partner’s fee goes to ${escrow.partner}`];
  return [
    '  two of these three sign what leaves it:',
    `    service  ${escrow.service}`,
    `    vendor   ${isOnramp ? escrow.seller : escrow.buyer}${isOnramp ? ' (seller)' : ' (buyer)'}`,
    `    ${openerOf({ escrow }).padEnd(8)} ${isOnramp ? escrow.buyer : escrow.seller}${isOnramp ? ' (buyer)' : ' (seller)'}`,
    ...fee,
  ];
}

function depositLines({ deposits, foreignTokenGaps }: OrderRecords, words: Words): string[] {
  const passedOver =
    foreignTokenGaps === 0
      ? []
      : [`  foreign tokens were NOT LOOKED FOR everywhere: ${foreignTokenGaps} gaps since it is watched`];
  if (deposits.length === 0) return ['Deposits', '  none is final yet', ...passedOver];
  return [
    'Deposits',
    ...passedOver,
    ...deposits.flatMap((row) => [
      `  ${words.amount(row.token, row.amount)} from ${words.name(row.sender)}: ${row.kind}, ${row.disposition.replaceAll('_', ' ')}`,
      `    block ${row.block_number}, ${row.tx_hash}${row.note === '' ? '' : ` (${row.note})`}`,
    ]),
  ];
}

const ENDS: Readonly<Record<string, string>> = {
  authorized: 'signed, can be executed by anyone until its deadline',
  spent: 'its nonce is used: it cannot happen again',
  lapsed: 'its deadline has passed: it can never happen',
};

function authorizationLines(row: InspectedAuthorization, words: Words): string[] {
  const what =
    row.purpose === 'funding' ? 'Transfer that the partner signed' : 'Send-out that the partner signed';
  const deadline = new Date(Number(row.deadline) * 1_000).toISOString();
  const lines = [
    what,
    `  to the ${words.name(row.recipient)}, forwarder nonce ${row.nonce}, deadline ${deadline}`,
    `  ${ENDS[row.status] ?? row.status}${row.succeeded === false ? ', and it moved nothing' : ''}`,
  ];
  if (row.bridge === null) return lines;
  lines.push(`  bound for ${row.bridge.destinationAddress} on ${row.bridge.destinationChain}`);
  if (row.deposit_tx_hash === null) return [...lines, '  the bridge has not been paid'];
  lines.push(`  the bridge was paid by ${row.deposit_tx_hash}`);
  if (row.overdue_at !== null) {
    lines.push(
      `  OVERDUE since ${row.overdue_at.toISOString()}: ask the bridge about quote ${row.bridge.quoteId}`,
    );
  }
  return lines;
}

async function transactionSection(deps: InspectDeps, records: OrderRecords, words: Words): Promise<string[]> {
  const { transactions, authorizations, order } = records;
  const lines: string[] = [];
  for (const row of transactions) {
    const chain = deps.chains.find(({ chainId }) => chainId === Number(row.chain_id));
    const sender = `sent by ${words.name(row.sender)}, nonce ${row.nonce}${row.version > 1 ? `, version ${row.version}` : ''}`;
    lines.push(`  ${row.tx_hash}`, `    ${sender}`, ...(await receiptLines(chain, row.tx_hash, words)));
  }
  for (const { chain_id: chainId, tx_hash: hash } of records.byStrangers) {
    const chain = deps.chains.find((candidate) => candidate.chainId === Number(chainId));
    lines.push(`  ${hash}`, '    sent by another account', ...(await receiptLines(chain, hash, words)));
  }
  const slug = authorizations.find(({ bridge }) => bridge !== null)?.bridge?.destinationChain;
  if (order.send_out_tx_hash !== null) {
    const chain = deps.chains.find((candidate) => candidate.slug === slug);
    lines.push(
      `  ${order.send_out_tx_hash}`,
      `    the bridge’s payout on ${slug}`,
      ...(await receiptLines(chain, order.send_out_tx_hash, words)),
    );
  }
  return lines.length === 0 ? [] : ['Transactions', ...lines];
}

async function receiptLines(chain: InspectedChain | undefined, hash: Hex, words: Words): Promise<string[]> {
  if (chain === undefined) return ['    its chain is not configured here'];
  try {
    const receipt = await chain.client.getTransactionReceipt({ hash });
    const end = receipt.status === 'success' ? 'succeeded' : 'REVERTED';
    const events = parseEventLogs({ abi: EVENTS, logs: receipt.logs }).flatMap((log) =>
      eventLine(log, words),
    );
    return [
      `    ${end} in block ${receipt.blockNumber} of ${chain.slug}, ${receipt.gasUsed} gas`,
      ...events.map((line) => `    ${line}`),
    ];
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return ['    not mined'];
    return [`  ${unreachable(error, chain)}`];
  }
}

type DecodedLog = ReturnType<typeof parseEventLogs<typeof EVENTS>>[number];

function eventLine(log: DecodedLog, words: Words): string[] {
  switch (log.eventName) {
    case 'Transfer':
      return [
        `→ ${words.amount(log.address, log.args.value)} from ${words.name(log.args.from)} to ${words.name(log.args.to)}`,
      ];
    case 'SafeSetup':
      return ['→ the escrow was deployed'];
    case 'ExecutionSuccess':
      return ['→ the escrow confirms the execution'];
    case 'ExecutionFailure':
      return ['→ the escrow says that the execution FAILED'];
    case 'ExecutedForwardRequest':
      return [`→ forward request ${log.args.nonce} of ${words.name(log.args.signer)} executed`];
    case 'BridgeDeposited':
      return [`→ paid for bridge quote ${log.args.bridgeQuoteId}`];
    default:
      return [];
  }
}

function openLines({ intents }: OrderRecords): string[] {
  if (intents.length === 0)
    return ['Under way', '  nothing: every effect that was decided has been carried out'];
  return [
    'Under way, or failed',
    ...intents.map(
      ({ kind, status, attempts, last_error: error }) =>
        `  ${kind}: ${status}, tried ${attempts} times${error === null ? '' : `, ${error}`}`,
    ),
  ];
}

/** Only the client library's errors mean that the chain is out of reach. */
function unreachable(error: unknown, { slug }: InspectedChain): string {
  if (!(error instanceof BaseError)) throw error;
  return `  ${slug} CANNOT BE REACHED: this part is from our records alone`;
}
