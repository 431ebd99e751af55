import {
  type Address,
  bytesToHex,
  checksumAddress,
  concat,
  type Hex,
  hexToBytes,
  keccak,
  keccakText,
  word,
} from './bytes.ts';

/** The contracts that a deployment uses on one chain. */
export interface TrustedContracts {
  readonly forwarder: Address;
  readonly router: Address;
  readonly safeSingleton: Address;
  readonly safeProxyFactory: Address;
  readonly fallbackHandler: Address;
  readonly multiSendCallOnly: Address;
}

/**
 * Where this release of the contracts is on public chains: the addresses follow from the code, so that they are the same on
 * each of them. An operator may use others, and a sandbox does: ask, and compare.
 */
export const CANONICAL_CONTRACTS: TrustedContracts = {
  forwarder: '0xF88400A0cB70BAFdA1Fc6ebb794A49EafC54Ae47',
  router: '0xC57dAf8d92E4d7abf790d96DDdC0E5900c3f67C0',
  safeSingleton: '0x41675C099F32341bf84BFc5382aF534df5C7461a',
  safeProxyFactory: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  fallbackHandler: '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
  multiSendCallOnly: '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
};

export interface EscrowOwners {
  readonly service: Address;
  readonly seller: Address;
  readonly buyer: Address;
}

/** Creation code of SafeProxy 1.4.1; the singleton's address follows it. */
const SAFE_PROXY_CODE: Hex =
  '0x608060405234801561001057600080fd5b506040516101e63803806101e68339818101604052602081101561003357600080fd5b8101908080519060200190929190505050600073ffffffffffffffffffffffffffffffffffffffff168173ffffffffffffffffffffffffffffffffffffffff1614156100ca576040517f08c379a00000000000000000000000000000000000000000000000000000000081526004018080602001828103825260228152602001806101c46022913960400191505060405180910390fd5b806000806101000a81548173ffffffffffffffffffffffffffffffffffffffff021916908373ffffffffffffffffffffffffffffffffffffffff1602179055505060ab806101196000396000f3fe608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fea264697066735822122003d1488ee65e08fa41e58e888a9865554c535f2c77126a82cb4c0f917f31441364736f6c63430007060033496e76616c69642073696e676c65746f6e20616464726573732070726f7669646564';

const ZERO = word(0n);
const THRESHOLD = 2n;

/** An order's uuid as the chain carries it: its 16 bytes in the low half of a word. */
export function orderKey(orderId: string): Hex {
  const uuid = orderId.toLowerCase();
  if (!/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(uuid))
    throw new TypeError('an order id is a uuid');
  return `0x${uuid.replaceAll('-', '').padStart(64, '0')}`;
}

/**
 * Where the escrow of an order is: a Safe of these three owners, any two of whom can move what is in it, at the address that
 * follows from owners and order. What is paid elsewhere is not in an escrow that you own.
 *
 * @example escrowAddress(CANONICAL_CONTRACTS, order.order_id, funds.escrow.owners);
 */
export function escrowAddress(
  contracts: Pick<TrustedContracts, 'safeSingleton' | 'safeProxyFactory' | 'fallbackHandler'>,
  orderId: string,
  owners: EscrowOwners,
): Address {
  const salt = keccak(concat(keccak(setupCall(owners, contracts.fallbackHandler)), orderKey(orderId)));
  const code = keccak(concat(SAFE_PROXY_CODE, word(contracts.safeSingleton)));
  const factory = contracts.safeProxyFactory.toLowerCase() as Address;
  return checksumAddress(`0x${keccak(concat('0xff', factory, salt, code)).slice(-40)}`);
}

/** `setup(owners, 2, 0, "", fallbackHandler, 0, 0, 0)` of the Safe. */
function setupCall({ service, seller, buyer }: EscrowOwners, fallbackHandler: Address): Hex {
  const heads = 8n * 32n;
  const ownersTail = [word(3n), word(service), word(seller), word(buyer)];
  return concat(
    selector('setup(address[],uint256,address,bytes,address,address,uint256,address)'),
    ...[word(heads), word(THRESHOLD), ZERO, word(heads + 4n * 32n)],
    ...[word(fallbackHandler), ZERO, ZERO, ZERO],
    ...[...ownersTail, ZERO],
  );
}

export function selector(signature: string): Hex {
  return keccakText(signature).slice(0, 10) as Hex;
}

/** A call whose arguments are all single words. */
export function encodeCall(signature: string, ...words: readonly Hex[]): Hex {
  return concat(selector(signature), ...words);
}

export interface Transfer {
  readonly token: Address;
  readonly to: Address;
  readonly amount: bigint;
}

export function transferCall({ to, amount }: Transfer): Hex {
  return encodeCall('transfer(address,uint256)', word(to), word(amount));
}

/** `multiSend(bytes)`: several transfers as one, all of them or none. */
export function multiSendCall(transfers: readonly Transfer[]): Hex {
  const packed = concat(
    ...transfers.map((transfer) => {
      const data = transferCall(transfer);
      const size = BigInt(hexToBytes(data).length);
      return concat('0x00', transfer.token.toLowerCase() as Address, ZERO, word(size), data);
    }),
  );
  const bytes = hexToBytes(packed);
  const padded = new Uint8Array(Math.ceil(bytes.length / 32) * 32);
  padded.set(bytes);
  return concat(selector('multiSend(bytes)'), word(32n), word(BigInt(bytes.length)), bytesToHex(padded));
}
