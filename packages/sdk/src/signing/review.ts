import type {
  BridgeAuthorizationParameters,
  Order,
  RefundAuthorizationParameters,
  TransferAuthorizationParameters,
} from '../generated/types.ts';
import { requireNumber } from '../numbers.ts';
import { type Address, type Hex, isAddress, sameAddress, toAtomic, word } from './bytes.ts';
import {
  type EscrowOwners,
  encodeCall,
  escrowAddress,
  multiSendCall,
  orderKey,
  type Transfer,
  type TrustedContracts,
  transferCall,
} from './escrow.ts';
import { requireSame, SigningRefusedError } from './refusal.ts';
import {
  FORWARD_REQUEST_TYPE,
  FORWARDER_NAME,
  FORWARDER_VERSION,
  hashTypedData,
  SAFE_TX_TYPE,
  type TypedData,
} from './typed-data.ts';

/**
 * What you know without asking the service: from its operator, from a block explorer, from your own records. Everything that
 * is to be signed is held against it.
 */
export interface Trust {
  readonly chainId: number;
  readonly contracts: TrustedContracts;
  /** Your wallet on this chain. */
  readonly wallet: string;
  /** The service's key of every escrow. */
  readonly service: string;
  /** Where the platform's fee goes; needed for releases. */
  readonly treasury?: string;
  /**
   * Of an order that a customer opened with its own wallet: where its partner’s fee goes. `wallet` is then the customer’s, and
   * a release pays it what is left after both fees.
   */
  readonly partner?: string;
  /** By code: `{ USDC: { address: '0x…', decimals: 6 } }`. */
  readonly tokens: Readonly<Record<string, { readonly address: string; readonly decimals: number }>>;
  /** Whom a send-out may pay; `any` leaves the choice to the service. Needed for send-outs. */
  readonly bridgeSolvers?: readonly string[] | 'any';
}

/** Of the order as your own records have it. */
export type OrderToSign = Pick<Order, 'order_id' | 'order_type' | 'amounts' | 'fee_breakdown'>;

interface Common {
  readonly order: OrderToSign;
  readonly trust: Trust;
  /** Unix seconds; the machine's clock by default. */
  readonly now?: number;
}

interface Forwarded extends Common {
  /** How long a signature may be good; 3 600 seconds by default. */
  readonly maxTtlSeconds?: number;
  /** The wallet's next nonce as your own node tells it; otherwise only that the answer agrees with itself is checked. */
  readonly nonce?: bigint | number | string;
}

/** `orders.funds(orderId)` tells them. */
export type Owners = { readonly [Owner in keyof EscrowOwners]: string };

export interface TransferToSign extends Forwarded {
  readonly parameters: TransferAuthorizationParameters;
  readonly owners: Owners;
}

export interface BridgeToSign extends Forwarded {
  readonly parameters: BridgeAuthorizationParameters;
  /** What you asked for, not what was answered. */
  readonly destination: { readonly destination_chain: string; readonly destination_address: string };
  /** The least that must arrive, in the smallest units there. */
  readonly minimumToAmount?: bigint | string;
}

export interface PayoutToSign extends Common {
  readonly parameters: RefundAuthorizationParameters;
  readonly owners: Owners;
  /** What you have agreed to be missing from the deposit, as a decimal amount; nothing by default. */
  readonly shortfall?: string;
}

/** Everything fits: this is what a wallet signs. */
export interface Reviewed {
  readonly typedData: TypedData;
  readonly digest: Hex;
  readonly signer: Address;
}

const DEFAULT_TTL_SECONDS = 3_600;
/** The router needs about 110 000. */
const MOST_GAS = 1_000_000n;
export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000';

interface Figures {
  readonly token: Address;
  readonly cryptoAmount: bigint;
  readonly platformFee: bigint;
  readonly partnerFee: bigint;
}

/**
 * Off-ramp: `fundEscrow` of the router moves crypto_amount and your fee from your wallet into the order's escrow, and
 * nothing else.
 */
export function reviewTransfer(request: TransferToSign): Reviewed {
  const { order, parameters, owners, trust } = request;
  requireSame('ORDER_MISMATCH', 'order.order_type', 'offramp', order.order_type);
  const figures = reviewOrder(order, parameters, trust);
  reviewOwners(trust, owners, 'seller');
  const escrow = escrowAddress(trust.contracts, order.order_id, owners as EscrowOwners);
  requireSame('ESCROW_MISMATCH', 'escrow_address', escrow, parameters.escrow_address);
  const amount = figures.cryptoAmount + figures.partnerFee;
  const data = encodeCall(
    'fundEscrow(bytes32,address,address,uint256)',
    ...[orderKey(order.order_id), word(figures.token), word(escrow), word(amount)],
  );
  return reviewForward(request, amount, data);
}

/** On-ramp: `depositToBridge` of the router pays the solver what is the end user's of the crypto in your wallet. */
export function reviewBridge(request: BridgeToSign): Reviewed {
  const { order, parameters, destination, trust, minimumToAmount = 0n } = request;
  requireOnramp(order);
  const figures = reviewOrder(order, parameters, trust);
  const { destination_chain: chain, destination_address: address } = destination;
  requireSame('DESTINATION_MISMATCH', 'destination_chain', chain, parameters.destination_chain);
  requireSame('DESTINATION_MISMATCH', 'destination_address', address, parameters.destination_address);
  const { solver_address: solver, quote_id: quoteId } = parameters;
  const { bridgeSolvers } = trust;
  if (bridgeSolvers === undefined) {
    throw new SigningRefusedError(
      'EXPECTATION_MISSING',
      'trust.bridgeSolvers',
      'a list or any',
      bridgeSolvers,
    );
  }
  const isTrusted = bridgeSolvers === 'any' || bridgeSolvers.some((one) => sameAddress(one, solver));
  if (!isTrusted || !isAddress(solver) || sameAddress(solver, ZERO_ADDRESS)) {
    throw new SigningRefusedError('SOLVER_NOT_TRUSTED', 'solver_address', bridgeSolvers, solver);
  }
  if (!/^0x[0-9a-fA-F]{64}$/.test(quoteId)) {
    throw new SigningRefusedError('CALLDATA_MISMATCH', 'quote_id', '32 bytes', quoteId);
  }
  if (!/^\d+$/.test(parameters.to_amount) || BigInt(parameters.to_amount) < BigInt(minimumToAmount)) {
    throw new SigningRefusedError(
      'AMOUNT_MISMATCH',
      'to_amount',
      `at least ${minimumToAmount}`,
      parameters.to_amount,
    );
  }
  const amount = figures.cryptoAmount - figures.platformFee - figures.partnerFee;
  const data = encodeCall(
    'depositToBridge(bytes32,address,address,uint256)',
    ...[quoteId as Hex, word(figures.token), word(solver), word(amount)],
  );
  return reviewForward(request, amount, data);
}

/** Off-ramp: the escrow's whole deposit goes back to its seller, which is you. */
export function reviewRefund(request: PayoutToSign): Reviewed {
  const { order, parameters, trust, shortfall = '0' } = request;
  requireSame('ORDER_MISMATCH', 'order.order_type', 'offramp', order.order_type);
  const { token, cryptoAmount, partnerFee } = reviewOrder(order, parameters, trust);
  const missing = toAtomic(shortfall, tokenOf(order, trust).decimals);
  if (missing === undefined)
    throw new SigningRefusedError('EXPECTATION_MISSING', 'shortfall', 'an amount', shortfall);
  const amount = cryptoAmount + partnerFee - missing;
  requireSame('RECIPIENT_MISMATCH', 'recipient_address', trust.wallet, parameters.recipient_address);
  return reviewPayout(request, 'seller', amount, [{ token, to: trust.wallet as Address, amount }]);
}

/**
 * On-ramp, after a dispute that was decided for you: you are paid crypto_amount less the platform's fee, and less the
 * partner's where that is another's (`trust.partner`).
 */
export function reviewRelease(request: PayoutToSign): Reviewed {
  const { order, parameters, trust } = request;
  requireOnramp(order);
  const { token, cryptoAmount, platformFee, partnerFee } = reviewOrder(order, parameters, trust);
  if (!isAddress(trust.treasury)) {
    throw new SigningRefusedError('EXPECTATION_MISSING', 'trust.treasury', 'an address', trust.treasury);
  }
  const { partner } = trust;
  if (partner !== undefined && !isAddress(partner)) {
    throw new SigningRefusedError('EXPECTATION_MISSING', 'trust.partner', 'an address', partner);
  }
  const markup = partner === undefined ? [] : [{ token, to: partner, amount: partnerFee }];
  const amount = cryptoAmount - platformFee - (partner === undefined ? 0n : partnerFee);
  requireSame('RECIPIENT_MISMATCH', 'recipient_address', trust.wallet, parameters.recipient_address);
  const transfers = [
    { token, to: trust.wallet as Address, amount },
    { token, to: trust.treasury, amount: platformFee },
    ...markup,
  ];
  return reviewPayout(request, 'buyer', amount, transfers);
}

/** Of either kind. */
function requireOnramp({ order_type: type }: OrderToSign): void {
  if (type === 'offramp') throw new SigningRefusedError('ORDER_MISMATCH', 'order.order_type', 'onramp', type);
}

function tokenOf({ amounts }: OrderToSign, { tokens }: Trust): { address: string; decimals: number } {
  const token = tokens[amounts.crypto_currency];
  if (token === undefined || !isAddress(token.address)) {
    throw new SigningRefusedError(
      'EXPECTATION_MISSING',
      `trust.tokens.${amounts.crypto_currency}`,
      'a token',
      token,
    );
  }
  return token;
}

type CommonParameters = Pick<
  RefundAuthorizationParameters,
  'order_id' | 'chain_id' | 'token_address' | 'crypto_currency' | 'crypto_decimals'
>;

/** The order agrees with itself, and the parameters are for it, on your chain, in your token. */
function reviewOrder(order: OrderToSign, parameters: CommonParameters, trust: Trust): Figures {
  const { crypto_currency: code, crypto_amount: cryptoText } = order.amounts;
  const { address, decimals } = tokenOf(order, trust);
  requireSame(
    'ORDER_MISMATCH',
    'order_id',
    order.order_id.toLowerCase(),
    `${parameters.order_id}`.toLowerCase(),
  );
  requireSame('CHAIN_MISMATCH', 'chain_id', trust.chainId, parameters.chain_id);
  requireSame('TOKEN_MISMATCH', 'crypto_currency', code, parameters.crypto_currency);
  requireSame('TOKEN_MISMATCH', 'token_address', address, parameters.token_address);
  requireSame('TOKEN_MISMATCH', 'crypto_decimals', decimals, parameters.crypto_decimals);
  const fees = order.fee_breakdown;
  const cryptoAmount = toAtomic(cryptoText, decimals);
  const platformFee = toAtomic(fees.platform_fee, decimals);
  const partnerFee = toAtomic(fees.partner_fee, decimals);
  const totalFee = toAtomic(fees.total_fee, decimals);
  if (cryptoAmount === undefined || cryptoAmount === 0n) {
    throw new SigningRefusedError('AMOUNT_MISMATCH', 'order.amounts.crypto_amount', 'an amount', cryptoText);
  }
  if (platformFee === undefined || partnerFee === undefined || totalFee !== platformFee + partnerFee) {
    throw new SigningRefusedError('FEE_MISMATCH', 'order.fee_breakdown', 'fees that add up', fees);
  }
  reviewFee('platform_fee', cryptoAmount, fees.platform_fee_pct, platformFee, 0n);
  // A pinned deposit may leave one unit that no base can use; it is the partner's.
  reviewFee(
    'partner_fee',
    cryptoAmount,
    fees.partner_fee_pct,
    partnerFee,
    order.order_type === 'offramp' ? 1n : 0n,
  );
  return { token: address as Address, cryptoAmount, platformFee, partnerFee };
}

/** A fee is its percentage of crypto_amount, rounded down. */
function reviewFee(name: string, base: bigint, percent: number, fee: bigint, spare: bigint): void {
  const millionths = toAtomic(`${percent}`, 6);
  const expected = millionths === undefined ? undefined : (base * millionths) / 100_000_000n;
  if (expected === undefined || fee < expected || fee > expected + spare) {
    throw new SigningRefusedError('FEE_MISMATCH', `order.fee_breakdown.${name}`, expected, fee);
  }
}

export function reviewOwners(trust: Trust, owners: Owners, mine: 'seller' | 'buyer'): void {
  const others = [owners.service, owners.seller, owners.buyer];
  const isThree = others.every(isAddress) && new Set(others.map((one) => one.toLowerCase())).size === 3;
  if (!isThree)
    throw new SigningRefusedError('OWNER_MISMATCH', 'owners', 'three different addresses', owners);
  requireSame('OWNER_MISMATCH', `owners.${mine}`, trust.wallet, owners[mine]);
  requireSame('OWNER_MISMATCH', 'owners.service', trust.service, owners.service);
}

/** Also as people read it: what is shown before it is signed is what is signed. */
function reviewAmount(
  parameters: Pick<RefundAuthorizationParameters, 'amount_atomic' | 'amount_human' | 'crypto_decimals'>,
  amount: bigint,
): void {
  const { amount_atomic: atomic, amount_human: human, crypto_decimals: decimals } = parameters;
  requireSame('AMOUNT_MISMATCH', 'amount_atomic', amount, atomic);
  if (toAtomic(human, decimals) !== amount) {
    throw new SigningRefusedError('AMOUNT_MISMATCH', 'amount_human', amount, human);
  }
}

function reviewForward(request: TransferToSign | BridgeToSign, amount: bigint, data: Hex): Reviewed {
  const { parameters, trust, now = Date.now() / 1_000, maxTtlSeconds = DEFAULT_TTL_SECONDS } = request;
  requireNumber('now', now, { finite: true });
  requireNumber('maxTtlSeconds', maxTtlSeconds);
  const { forwarder, router } = trust.contracts;
  const given = parameters.forward_request;
  requireSame('FORWARDER_MISMATCH', 'forwarder_address', forwarder, parameters.forwarder_address);
  requireSame('SIGNER_MISMATCH', 'sender_address', trust.wallet, parameters.sender_address);
  requireSame('SIGNER_MISMATCH', 'forward_request.from', trust.wallet, given.from);
  requireSame('ROUTER_MISMATCH', 'forward_request.to', router, given.to);
  reviewAmount(parameters, amount);
  requireSame('VALUE_NOT_ZERO', 'forward_request.value', '0', given.value);
  requireSame('CALLDATA_MISMATCH', 'forward_request.data', data, given.data);
  requireSame('CALLDATA_MISMATCH', 'transfer_data', data, parameters.transfer_data);
  requireSame('NONCE_MISMATCH', 'forwarder_nonce', given.nonce, parameters.forwarder_nonce);
  if (request.nonce !== undefined) {
    requireSame('NONCE_MISMATCH', 'forward_request.nonce', `${request.nonce}`, given.nonce);
  }
  for (const name of ['gas', 'nonce', 'deadline'] as const) {
    if (!/^(?:0|[1-9]\d{0,77})$/.test(given[name])) {
      throw new SigningRefusedError(
        'TYPED_DATA_MISMATCH',
        `forward_request.${name}`,
        'a whole number',
        given[name],
      );
    }
  }
  requireSame('TYPED_DATA_MISMATCH', 'forward_request.gas', parameters.recommended_gas, given.gas);
  if (BigInt(given.gas) > MOST_GAS) {
    throw new SigningRefusedError('GAS_TOO_HIGH', 'forward_request.gas', `at most ${MOST_GAS}`, given.gas);
  }
  const ttl = Number(given.deadline) - now;
  if (ttl <= 0) {
    throw new SigningRefusedError(
      'DEADLINE_PASSED',
      'forward_request.deadline',
      `after ${Math.floor(now)}`,
      given.deadline,
    );
  }
  if (ttl > maxTtlSeconds) {
    const latest = `at most ${Math.floor(now + maxTtlSeconds)}`;
    throw new SigningRefusedError('DEADLINE_TOO_FAR', 'forward_request.deadline', latest, given.deadline);
  }
  const typedData: TypedData = {
    domain: {
      name: FORWARDER_NAME,
      version: FORWARDER_VERSION,
      chainId: trust.chainId,
      verifyingContract: forwarder,
    },
    types: { ForwardRequest: FORWARD_REQUEST_TYPE },
    primaryType: 'ForwardRequest',
    message: {
      ...{ from: trust.wallet, to: router, value: '0', gas: given.gas },
      ...{ nonce: given.nonce, deadline: given.deadline, data },
    },
  };
  const { eip712_domain: domain, types, primary_type: primaryType } = parameters;
  reviewTypedData(typedData, { domain, types, primaryType, message: given });
  return { typedData, digest: hashTypedData(typedData), signer: trust.wallet as Address };
}

/** A transaction of the escrow's Safe with its first nonce: release and refund share it, so that one of them can happen. */
function reviewPayout(
  { order, parameters, owners, trust }: PayoutToSign,
  mine: 'seller' | 'buyer',
  amount: bigint,
  all: readonly Transfer[],
): Reviewed {
  reviewOwners(trust, owners, mine);
  const escrow = escrowAddress(trust.contracts, order.order_id, owners as EscrowOwners);
  requireSame('ESCROW_MISMATCH', 'escrow_address', escrow, parameters.escrow_address);
  requireSame('SIGNER_MISMATCH', 'signer_address', trust.wallet, parameters.signer_address);
  reviewAmount(parameters, amount);
  return reviewEscrowPayout(parameters, escrow, all, trust);
}

/** What a payout of this escrow must be, held against what was answered: whoever of its owners signs it. */
export function reviewEscrowPayout(
  parameters: Pick<RefundAuthorizationParameters, 'safe_tx_hash' | 'typed_data'>,
  escrow: Address,
  all: readonly Transfer[],
  trust: Trust,
): Reviewed {
  const { message } = parameters.typed_data;
  const transfers = all.filter((transfer) => transfer.amount > 0n);
  const [first] = transfers;
  if (first === undefined) throw new SigningRefusedError('AMOUNT_MISMATCH', 'amount_atomic', 'above 0', 0n);
  const isSingle = transfers.length === 1;
  const expected = {
    to: isSingle ? first.token : trust.contracts.multiSendCallOnly,
    value: '0',
    data: isSingle ? transferCall(first) : multiSendCall(transfers),
    operation: isSingle ? 0 : 1,
    safeTxGas: '0',
    baseGas: '0',
    gasPrice: '0',
    gasToken: ZERO_ADDRESS,
    refundReceiver: ZERO_ADDRESS,
    nonce: '0',
  };
  requireSame('VALUE_NOT_ZERO', 'typed_data.message.value', expected.value, message.value);
  requireSame('CALLDATA_MISMATCH', 'typed_data.message.data', expected.data, message.data);
  requireSame('NONCE_MISMATCH', 'typed_data.message.nonce', expected.nonce, message.nonce);
  const typedData: TypedData = {
    domain: { chainId: trust.chainId, verifyingContract: escrow },
    types: { SafeTx: SAFE_TX_TYPE },
    primaryType: 'SafeTx',
    message: expected,
  };
  reviewTypedData(typedData, parameters.typed_data);
  const digest = hashTypedData(typedData);
  requireSame('TYPED_DATA_MISMATCH', 'safe_tx_hash', digest, parameters.safe_tx_hash);
  return { typedData, digest, signer: trust.wallet as Address };
}

/** What is signed is built here; an answer that differs in anything is not what it says it is. */
function reviewTypedData(
  expected: TypedData,
  given: {
    readonly domain: object;
    readonly types: object;
    readonly primaryType: string;
    readonly message: object;
  },
): void {
  const same = (where: string, left: object, right: object) => {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const at = (of: object) => (of as Readonly<Record<string, unknown>>)[name];
      requireSame('TYPED_DATA_MISMATCH', `${where}.${name}`, at(left), at(right));
    }
  };
  requireSame('TYPED_DATA_MISMATCH', 'primaryType', expected.primaryType, given.primaryType);
  same('domain', expected.domain, given.domain);
  same('message', expected.message, given.message);
  const plainTypes = (types: object) =>
    Object.fromEntries(
      Object.entries(types as TypedData['types']).map(([name, fields]) => [
        name,
        fields.map((field) => `${field.type} ${field.name}`).join(','),
      ]),
    );
  same('types', plainTypes(expected.types), plainTypes(given.types));
}
