import {
  type Address,
  bytesToHex,
  checksumAddress,
  type Hex,
  hexToBytes,
  isAddress,
  isHex,
  word,
} from './bytes.ts';
import { encodeCall, multiSendCall, selector, type Transfer, transferCall } from './escrow.ts';
import { SigningRefusedError } from './refusal.ts';
import { ZERO_ADDRESS } from './review.ts';
import {
  FORWARD_REQUEST_TYPE,
  SAFE_TX_TYPE,
  type TypedData,
  type TypedDataHashes,
  typedDataHashes,
} from './typed-data.ts';

/**
 * What a wallet is asked to sign or to send, read back from its bytes: for a sentence on a screen before somebody agrees.
 * Whatever cannot be read completely is refused, since nobody could say what it does.
 */
export type DecodedCall =
  /** Tokens move, all of them or none. */
  | { readonly kind: 'transfers'; readonly transfers: readonly Transfer[] }
  /** The router takes tokens of the signer into an order's escrow. */
  | {
      readonly kind: 'fund-escrow';
      readonly orderId: string;
      readonly token: Address;
      readonly escrow: Address;
      readonly amount: bigint;
    }
  /** The router takes tokens of the signer to a bridge's solver. */
  | {
      readonly kind: 'deposit-to-bridge';
      readonly quoteId: Hex;
      readonly token: Address;
      readonly solver: Address;
      readonly amount: bigint;
    }
  /** Somebody may take tokens of the sender, up to this amount. */
  | {
      readonly kind: 'approve';
      readonly token: Address;
      readonly spender: Address;
      readonly amount: bigint;
    };

export interface Decoded {
  readonly call: DecodedCall;
  readonly chainId: number;
  /** Whose tokens move: the escrow of a payout, the signer of a forwarded request. */
  readonly from: Address;
  /** The contract that checks the signature. */
  readonly verifyingContract: Address;
  /** Unix seconds; null where the signature has no end of its own. */
  readonly deadline: number | null;
  /** The contract that a payout of several transfers goes through. */
  readonly multiSend: Address | null;
  readonly hashes: TypedDataHashes;
}

const TRANSFER = 'transfer(address,uint256)';
const APPROVE = 'approve(address,uint256)';
const FUND_ESCROW = 'fundEscrow(bytes32,address,address,uint256)';
const DEPOSIT_TO_BRIDGE = 'depositToBridge(bytes32,address,address,uint256)';
const UNUSED = { value: '0', safeTxGas: '0', baseGas: '0', gasPrice: '0', nonce: '0' } as const;

/**
 * A Safe's transaction or a forwarded request, as this service asks for them.
 *
 * @example const { call, hashes } = decodeTypedData(reviewRefund(request).typedData);
 */
export function decodeTypedData(typedData: TypedData): Decoded {
  const { primaryType, types } = typedData;
  const known = primaryType === 'SafeTx' ? SAFE_TX_TYPE : FORWARD_REQUEST_TYPE;
  const written = (fields: readonly { readonly name: string; readonly type: string }[] = []) =>
    fields.map(({ name, type }) => `${type} ${name}`).join();
  if (written(types[primaryType]) !== written(known))
    throw refuse('TYPED_DATA_MISMATCH', `types.${primaryType}`, written(known), written(types[primaryType]));
  return typedData.primaryType === 'SafeTx' ? decodeSafe(typedData) : decodeForward(typedData);
}

/**
 * A transaction that a wallet sends itself: a transfer or an allowance.
 *
 * @example decodeTransaction({ to: token, data, value: '0x0' });
 */
export function decodeTransaction({
  to,
  data,
  value = '0x0',
}: {
  readonly to: string;
  readonly data: string;
  readonly value?: string;
}): DecodedCall {
  if (BigInt(value) !== 0n) throw refuse('VALUE_NOT_ZERO', 'value', '0', value);
  const token = checksumAddress(to as Address);
  const transfer = readTransfer(token, data);
  if (transfer !== undefined) return { kind: 'transfers', transfers: [transfer] };
  const [spender, amount] = readWords(APPROVE, data, 2) ?? [];
  if (spender === undefined || amount === undefined) throw unreadable('data', data);
  return { kind: 'approve', token, spender: addressOfWord(spender), amount: BigInt(amount) };
}

function decodeSafe(typedData: TypedData): Decoded {
  const { domain, message } = typedData;
  for (const [name, expected] of Object.entries(UNUSED)) {
    if (String(message[name]) !== expected)
      throw refuse('TYPED_DATA_MISMATCH', name, expected, message[name]);
  }
  for (const name of ['gasToken', 'refundReceiver']) {
    if (message[name] !== ZERO_ADDRESS)
      throw refuse('TYPED_DATA_MISMATCH', name, ZERO_ADDRESS, message[name]);
  }
  const data = String(message.data);
  if (!isAddress(message.to)) throw unreadable('to', message.to);
  const to = checksumAddress(message.to);
  const isSingle = message.operation === 0;
  if (!isSingle && message.operation !== 1)
    throw refuse('TYPED_DATA_MISMATCH', 'operation', '0 or 1', message.operation);
  const transfers = isSingle ? [readTransfer(to, data)] : readMultiSend(data);
  if (transfers === undefined) throw unreadable('data', data);
  return {
    call: { kind: 'transfers', transfers: transfers.map((one) => one ?? raise(unreadable('data', data))) },
    chainId: domain.chainId,
    from: domain.verifyingContract,
    verifyingContract: domain.verifyingContract,
    deadline: null,
    multiSend: isSingle ? null : to,
    hashes: typedDataHashes(typedData),
  };
}

function decodeForward(typedData: TypedData): Decoded {
  const { domain, primaryType, message } = typedData;
  if (primaryType !== 'ForwardRequest') throw unreadable('primaryType', primaryType);
  if (String(message.value) !== '0') throw refuse('VALUE_NOT_ZERO', 'value', '0', message.value);
  const data = String(message.data);
  if (!isAddress(message.from)) throw unreadable('from', message.from);
  const deadline = Number(message.deadline);
  if (!Number.isSafeInteger(deadline)) throw unreadable('deadline', message.deadline);
  return {
    call: readRouterCall(data),
    chainId: domain.chainId,
    from: checksumAddress(message.from),
    verifyingContract: domain.verifyingContract,
    deadline,
    multiSend: null,
    hashes: typedDataHashes(typedData),
  };
}

function readRouterCall(data: string): DecodedCall {
  const funding = readWords(FUND_ESCROW, data, 4);
  const [first = '0x', token = '0x', to = '0x', amount = '0x'] =
    funding ?? readWords(DEPOSIT_TO_BRIDGE, data, 4) ?? raise(unreadable('data', data));
  const common = { token: addressOfWord(token), amount: BigInt(amount) };
  if (funding === undefined)
    return { kind: 'deposit-to-bridge', quoteId: first, solver: addressOfWord(to), ...common };
  const id = /^0x0{32}(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(first)?.slice(1).join('-');
  if (id === undefined) throw unreadable('data', data);
  return { kind: 'fund-escrow', orderId: id, escrow: addressOfWord(to), ...common };
}

/** The arguments of this call, if the data is exactly that. */
function readWords(signature: string, data: string, count: number): readonly Hex[] | undefined {
  if (!isHex(data) || data.length !== 10 + count * 64) return undefined;
  const words = Array.from(
    { length: count },
    (_, at): Hex => `0x${data.slice(10 + at * 64, 74 + at * 64).toLowerCase()}`,
  );
  return encodeCall(signature, ...words) === data.toLowerCase() ? words : undefined;
}

function readTransfer(token: Address, data: string): Transfer | undefined {
  const [to, amount] = readWords(TRANSFER, data, 2) ?? [];
  if (to === undefined || amount === undefined) return undefined;
  const transfer = { token, to: addressOfWord(to), amount: BigInt(amount) };
  return transferCall(transfer) === data.toLowerCase() ? transfer : undefined;
}

/** Each part is operation, token, value, size and call; what does not come out the same when written again is refused. */
function readMultiSend(data: string): readonly Transfer[] | undefined {
  if (!isHex(data) || !data.startsWith(selector('multiSend(bytes)'))) return undefined;
  const bytes = hexToBytes(data);
  const head = 4 + 32;
  const size = Number(BigInt(bytesToHex(bytes.subarray(head, head + 32)) || '0x0'));
  const packed = bytes.subarray(head + 32, head + 32 + size);
  const PART = 1 + 20 + 32 + 32 + 68;
  if (size === 0 || size % PART !== 0) return undefined;
  const transfers: Transfer[] = [];
  for (let at = 0; at < size; at += PART) {
    const token = checksumAddress(bytesToHex(packed.subarray(at + 1, at + 21)));
    const transfer = readTransfer(token, bytesToHex(packed.subarray(at + PART - 68, at + PART)));
    if (transfer === undefined) return undefined;
    transfers.push(transfer);
  }
  return multiSendCall(transfers) === data.toLowerCase() ? transfers : undefined;
}

function addressOfWord(text: Hex): Address {
  const address: Address = `0x${text.slice(-40)}`;
  if (word(address) !== text) throw unreadable('data', text);
  return checksumAddress(address);
}

function unreadable(field: string, actual: unknown): SigningRefusedError {
  return refuse('CALLDATA_MISMATCH', field, 'a call that can be put into words', actual);
}

function refuse(...given: ConstructorParameters<typeof SigningRefusedError>): SigningRefusedError {
  return new SigningRefusedError(...given);
}

function raise(error: Error): never {
  throw error;
}
