import {
  AUTHORIZATION_ISSUED,
  AUTHORIZATION_LIVE,
  type AuthorizationEnd,
  type AuthorizationStatus,
  authorizationMachine,
  onlyMove,
} from '@causeway/protocol';
import { type Database, SYSTEM, violatedConstraint } from '../../db/database.ts';
import { sqlWords, statement } from '../../db/statement.ts';
import { transactionKeysOf } from '../../engine/intent.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { BridgeDeposit } from '../watcher/chain-facts.ts';
import type { Authorization, AuthorizationPurpose, BridgeLeg } from './authorization.ts';
import type { NonceOwner } from './forwarder-nonces.store.ts';

/** All SQL of forward-request authorizations. */

const ISSUED = sqlWords(AUTHORIZATION_ISSUED);
const LIVE = sqlWords(AUTHORIZATION_LIVE);

interface AuthorizationRow {
  authorization_id: string;
  order_id: string;
  partner_id: string;
  purpose: AuthorizationPurpose;
  chain_id: string;
  forwarder: Address;
  sender: Address;
  nonce: string;
  router: Address;
  gas: string;
  deadline: string;
  data: Hex;
  token: Address;
  amount: string;
  recipient: Address;
  bridge: BridgeLeg | null;
  status: AuthorizationStatus;
  signature: Hex | null;
  tx_hash: Hex | null;
  issued_at: Date;
  expires_at: Date;
  deposit_tx_hash: Hex | null;
  deposited_at: Date | null;
}

const COLUMNS = `authorization_id, order_id, partner_id, purpose, chain_id::text, forwarder, sender, nonce::text,
  router, gas::text, deadline::text, data, token, amount::text, recipient, bridge, status, signature, tx_hash,
  issued_at, expires_at, deposit_tx_hash, deposited_at`;

const insertAuthorization = statement<
  [
    authorizationId: string,
    orderId: string,
    partnerId: string,
    purpose: string,
    chainId: number,
    forwarder: string,
    sender: string,
    nonce: bigint,
    router: string,
    gas: bigint,
    deadline: number,
    data: string,
    token: string,
    amount: bigint,
    recipient: string,
    bridge: string | null,
    issuedAt: Date,
    expiresAt: Date,
  ]
>(
  'chain.insert_authorization',
  `INSERT INTO forward_authorizations (authorization_id, order_id, partner_id, purpose, chain_id, forwarder, sender,
     nonce, router, gas, deadline, data, token, amount, recipient, bridge, issued_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::jsonb, $17, $18)`,
);

const selectOfOrder = statement<[orderId: string, purpose: string], AuthorizationRow>(
  'chain.authorizations_of_order',
  `SELECT ${COLUMNS} FROM forward_authorizations WHERE order_id = $1 AND purpose = $2
    ORDER BY issued_at DESC, authorization_id DESC LIMIT 20`,
);

/** What was sent back is among them, however many were issued after it. */
const selectGiven = statement<
  [orderId: string, purpose: string, nonce: string, deadline: string, data: string],
  AuthorizationRow
>(
  'chain.authorizations_given',
  `SELECT ${COLUMNS} FROM forward_authorizations WHERE order_id = $1 AND purpose = $2
    ORDER BY nonce::text = $3 AND deadline::text = $4 AND data = lower($5) DESC, issued_at DESC, authorization_id DESC
    LIMIT 20`,
);

const selectSigned = statement<[orderId: string, purpose: string], AuthorizationRow>(
  'chain.signed_authorization',
  `SELECT ${COLUMNS} FROM forward_authorizations WHERE order_id = $1 AND purpose = $2 AND status <> ${ISSUED}
    ORDER BY status = ${LIVE} DESC, issued_at DESC, authorization_id DESC LIMIT 1`,
);

const selectUnderWay = statement<[orderId: string, purpose: string, except: string], AuthorizationRow>(
  'chain.earlier_authorizations_under_way',
  `SELECT ${COLUMNS} FROM forward_authorizations
    WHERE order_id = $1 AND purpose = $2 AND status <> ${ISSUED} AND authorization_id <> $3
      AND EXISTS (SELECT FROM chain_transactions t
                   WHERE t.effect_key = ANY(${transactionKeysOf("('forward:' || authorization_id)")}) AND t.status = 'open')
    ORDER BY issued_at, authorization_id`,
);

const selectByNonce = statement<
  [chainId: number, forwarder: string, sender: string, nonce: bigint],
  AuthorizationRow
>(
  'chain.authorization_by_nonce',
  `SELECT ${COLUMNS} FROM forward_authorizations
    WHERE chain_id = $1 AND forwarder = $2 AND sender = $3 AND nonce = $4 AND status = ${LIVE} FOR UPDATE`,
);

const markAuthorized = statement<
  [authorizationId: string, from: string, to: string, signature: string],
  { authorization_id: string }
>(
  'chain.mark_authorized',
  `UPDATE forward_authorizations SET status = $3, signature = $4
    WHERE authorization_id = $1 AND status = $2 RETURNING authorization_id`,
);

const settleAuthorization = statement<
  [
    authorizationId: string,
    from: string,
    to: string,
    txHash: string | null,
    succeeded: boolean | null,
    at: Date,
  ],
  { status: AuthorizationEnd }
>(
  'chain.settle_authorization',
  `UPDATE forward_authorizations SET status = $3, tx_hash = $4, succeeded = $5, settled_at = $6
    WHERE authorization_id = $1 AND status = $2 RETURNING status`,
);

const selectByQuote = statement<[quoteId: string], AuthorizationRow>(
  'chain.authorization_by_quote',
  `SELECT ${COLUMNS} FROM forward_authorizations WHERE bridge ->> 'quoteId' = $1 AND status <> ${ISSUED}`,
);

const markDeposited = statement<
  [quoteId: string, chainId: number, token: string, solver: string, amount: bigint, txHash: string, at: Date],
  AuthorizationRow
>(
  'chain.mark_bridge_deposited',
  `UPDATE forward_authorizations SET deposit_tx_hash = $6, deposited_at = $7
    WHERE bridge ->> 'quoteId' = $1 AND chain_id = $2 AND lower(token) = lower($3) AND lower(recipient) = lower($4)
      AND amount <= $5 AND status <> ${ISSUED} AND deposit_tx_hash IS NULL
   RETURNING ${COLUMNS}`,
);

const selectSendOut = statement<[orderId: string], AuthorizationRow & { overdue_at: Date | null }>(
  'chain.current_send_out',
  `SELECT ${COLUMNS}, overdue_at FROM forward_authorizations
    WHERE order_id = $1 AND purpose = 'bridge' AND status <> ${ISSUED}
    ORDER BY issued_at DESC, authorization_id DESC LIMIT 1`,
);

const markSilent = statement<[authorizationId: string, at: Date], { authorization_id: string }>(
  'chain.mark_send_out_overdue',
  `UPDATE forward_authorizations SET overdue_at = $2
    WHERE authorization_id = $1 AND overdue_at IS NULL RETURNING authorization_id`,
);

export function storeAuthorization(unit: UnitOfWork, issued: Authorization): void {
  unit.tx.defer(insertAuthorization, [
    issued.authorizationId,
    issued.orderId,
    issued.partnerId,
    issued.purpose,
    issued.chainId,
    issued.forwarder,
    issued.sender,
    issued.nonce,
    issued.router,
    issued.gas,
    issued.deadline,
    issued.data,
    issued.token,
    issued.amount,
    issued.recipient,
    issued.bridge === null ? null : JSON.stringify(issued.bridge),
    issued.issuedAt,
    issued.expiresAt,
  ]);
}

/** The newest few: enough to find one that can be shown again. */
export async function authorizationsOf(
  unit: UnitOfWork,
  orderId: string,
  purpose: AuthorizationPurpose,
): Promise<Authorization[]> {
  return (await unit.tx.query(selectOfOrder, [orderId, purpose])).map(fromRow);
}

/** Anything else was never issued, and need not be text that the database takes. */
const WORD = /^\w*$/;

/** What a partner sent back, if it was issued, and the newest few beside it. */
export async function authorizationsLike(
  unit: UnitOfWork,
  orderId: string,
  purpose: AuthorizationPurpose,
  { nonce, deadline, data }: Readonly<Record<'nonce' | 'deadline' | 'data', string>>,
): Promise<Authorization[]> {
  const given = [nonce, deadline, data].map((text) => (WORD.test(text) ? text : '')) as [
    string,
    string,
    string,
  ];
  return (await unit.tx.query(selectGiven, [orderId, purpose, ...given])).map(fromRow);
}

/** The one that may still be executed, or the newest that was signed, whatever became of it. */
export async function findSigned(
  db: Database,
  orderId: string,
  purpose: AuthorizationPurpose,
): Promise<Authorization | undefined> {
  const [row] = await db.query(SYSTEM, selectSigned, [orderId, purpose]);
  return row && fromRow(row);
}

/** The order's earlier requests whose transactions are not final, though they themselves are settled. */
export async function earlierUnderWay(
  db: Database,
  { orderId, purpose, authorizationId }: Authorization,
): Promise<Authorization[]> {
  return (await db.query(SYSTEM, selectUnderWay, [orderId, purpose, authorizationId])).map(fromRow);
}

/** The signed request that pays this quote of a bridge. */
export async function findByQuote(db: Database, quoteId: string): Promise<Authorization | undefined> {
  const [row] = await db.query(SYSTEM, selectByQuote, [quoteId]);
  return row && fromRow(row);
}

/** The bridge was paid for a signed request; answers it the first time, in whichever way the deposit was made. */
export async function recordBridgeDeposit(
  unit: UnitOfWork,
  { bridgeQuoteId, chainId, token, solver, amount, txHash }: BridgeDeposit,
): Promise<Authorization | undefined> {
  const paid = [bridgeQuoteId, chainId, token, solver, amount, txHash, unit.at] as const;
  const [row] = await unit.tx.query(markDeposited, [...paid]);
  return row && fromRow(row);
}

/** False where an operator has been asked to look before. */
export async function recordOverdue(unit: UnitOfWork, authorizationId: string): Promise<boolean> {
  return (await unit.tx.query(markSilent, [authorizationId, unit.at])).length > 0;
}

/** The send-out an order is in, or was in last, and since when its bridge owes an answer. */
export async function currentSendOut(
  unit: UnitOfWork,
  orderId: string,
): Promise<{ readonly paid: Authorization; readonly overdueAt: Date | null } | undefined> {
  const [row] = await unit.tx.query(selectSendOut, [orderId]);
  return row && { paid: fromRow(row), overdueAt: row.overdue_at };
}

/** The signed request that this nonce was reserved for, locked. */
export async function lockSignedAt(
  unit: UnitOfWork,
  { chainId, forwarder, sender }: NonceOwner,
  nonce: bigint,
): Promise<Authorization | undefined> {
  const [row] = await unit.tx.query(selectByNonce, [chainId, forwarder, sender, nonce]);
  return row && fromRow(row);
}

/** False where the nonce or the order has a signed request already. */
export async function authorize(unit: UnitOfWork, authorizationId: string, signature: Hex): Promise<boolean> {
  const { from, to } = onlyMove(authorizationMachine, 'authorization_signed');
  try {
    return (await unit.tx.query(markAuthorized, [authorizationId, from, to, signature])).length > 0;
  } catch (error) {
    if (violatedConstraint(error)?.startsWith('forward_authorizations_') === true) return false;
    throw error;
  }
}

/** What became of it; undefined where it was settled before. */
export async function settle(
  unit: UnitOfWork,
  authorizationId: string,
  fact: { on: 'nonce_spent'; txHash: Hex; succeeded: boolean } | { on: 'deadline_passed' },
): Promise<AuthorizationEnd | undefined> {
  const { from, to } = onlyMove(authorizationMachine, fact.on);
  const [txHash, succeeded] = fact.on === 'nonce_spent' ? [fact.txHash, fact.succeeded] : [null, null];
  const moved = [authorizationId, from, to, txHash, succeeded, unit.at] as const;
  const [settled] = await unit.tx.query(settleAuthorization, [...moved]);
  return settled?.status;
}

function fromRow(row: AuthorizationRow): Authorization {
  return {
    authorizationId: row.authorization_id,
    orderId: row.order_id,
    partnerId: row.partner_id,
    purpose: row.purpose,
    chainId: Number(row.chain_id),
    forwarder: row.forwarder,
    sender: row.sender,
    nonce: BigInt(row.nonce),
    router: row.router,
    gas: BigInt(row.gas),
    deadline: Number(row.deadline),
    data: row.data,
    token: row.token,
    amount: BigInt(row.amount),
    recipient: row.recipient,
    bridge: row.bridge,
    status: row.status,
    signature: row.signature,
    txHash: row.tx_hash,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    depositTxHash: row.deposit_tx_hash,
    depositedAt: row.deposited_at,
  };
}
