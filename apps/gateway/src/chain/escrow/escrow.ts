import { safe, safeProxy, safeProxyFactory } from '@causeway/contracts';
import {
  encodeFunctionData,
  encodePacked,
  getAddress,
  getContractAddress,
  isAddressEqual,
  keccak256,
  zeroAddress,
} from 'viem';
import type { Address, ChainSettings, ContractCall, Hex, TokenTransfer } from '../chain-settings.ts';

/**
 * An order's uuid as the chain carries it: 32 bytes, the uuid's 16 in the low half. The same number salts the escrow's
 * address, so an order has exactly one escrow per set of owners.
 */

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function orderKey(orderId: string): Hex {
  const uuid = orderId.toLowerCase();
  if (!uuidPattern.test(uuid)) throw new Error('an order id is a uuid');
  return `0x${uuid.replaceAll('-', '').padStart(64, '0')}`;
}

export function escrowSaltNonce(orderId: string): bigint {
  return BigInt(orderKey(orderId));
}

/**
 * One escrow per order: a Safe owned by service, seller and buyer, any two of whom move its tokens. Its address
 * follows from the order id and the owners alone (CREATE2), so it can be paid long before the contract exists.
 */

export const ESCROW_THRESHOLD = 2;

export interface EscrowParties {
  service: Address;
  seller: Address;
  buyer: Address;
}

export interface Escrow {
  readonly chainId: number;
  readonly address: Address;
  readonly parties: EscrowParties;
  /** Creates the Safe at `address`. Anyone may send it, and it reverts if the Safe is already there. */
  readonly deploymentCall: ContractCall;
}

export function describeEscrow(
  settings: Pick<ChainSettings, 'chainId' | 'contracts'>,
  orderId: string,
  parties: EscrowParties,
): Escrow {
  const { safeSingleton, safeProxyFactory: factory, fallbackHandler } = settings.contracts;
  const initializer = encodeSetup(parties, fallbackHandler);
  const saltNonce = escrowSaltNonce(orderId);
  return {
    chainId: settings.chainId,
    address: getContractAddress({
      opcode: 'CREATE2',
      from: factory,
      salt: keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), saltNonce])),
      bytecode: encodePacked(['bytes', 'uint256'], [safeProxy.bytecode, BigInt(safeSingleton)]),
    }),
    parties: {
      service: getAddress(parties.service),
      seller: getAddress(parties.seller),
      buyer: getAddress(parties.buyer),
    },
    deploymentCall: {
      to: factory,
      value: 0n,
      data: encodeFunctionData({
        abi: safeProxyFactory.abi,
        functionName: 'createProxyWithNonce',
        args: [safeSingleton, initializer, saltNonce],
      }),
    },
  };
}

export function ownersOf({ service, seller, buyer }: EscrowParties): readonly [Address, Address, Address] {
  return [service, seller, buyer];
}

function encodeSetup(parties: EscrowParties, fallbackHandler: Address): Hex {
  const owners = ownersOf(parties);
  // The Safe refuses repeated owners only when it is deployed, which may be after it was paid.
  const [service, seller, buyer] = owners;
  if (isAddressEqual(service, seller) || isAddressEqual(service, buyer) || isAddressEqual(seller, buyer)) {
    throw new Error('an escrow needs three different owners');
  }
  if (owners.some((owner) => BigInt(owner) <= 1n)) {
    throw new Error('an escrow owner cannot be an address the Safe reserves');
  }
  return encodeFunctionData({
    abi: safe.abi,
    functionName: 'setup',
    args: [
      [...owners],
      BigInt(ESCROW_THRESHOLD),
      zeroAddress,
      '0x',
      fallbackHandler,
      zeroAddress,
      0n,
      zeroAddress,
    ],
  });
}

/**
 * Who receives what when an escrow is emptied. Each function empties it exactly: what it pays sums to what was
 * deposited, so nothing is created, lost or left behind.
 */

interface ReleaseFigures {
  token: Address;
  /** The order's crypto_amount, in atomic units. */
  cryptoAmount: bigint;
  platformFee: bigint;
  treasury: Address;
  partnerWallet: Address;
}

/** On-ramp: the vendor deposited crypto_amount. What the partner keeps as its own fee is part of its share. */
export function onrampRelease(figures: ReleaseFigures): TokenTransfer[] {
  const { token, cryptoAmount, platformFee, treasury, partnerWallet } = figures;
  return payable([
    { token, to: partnerWallet, amount: cryptoAmount - platformFee },
    { token, to: treasury, amount: platformFee },
  ]);
}

/** On-ramp that a customer opened: the crypto goes to its own wallet, and to the partner only the partner's fee. */
export function customerRelease(
  figures: ReleaseFigures & { partnerFee: bigint; buyer: Address },
): TokenTransfer[] {
  const { token, cryptoAmount, platformFee, partnerFee, treasury, partnerWallet, buyer } = figures;
  return payable([
    { token, to: buyer, amount: cryptoAmount - platformFee - partnerFee },
    { token, to: treasury, amount: platformFee },
    { token, to: partnerWallet, amount: partnerFee },
  ]);
}

/** Off-ramp: the partner or its customer deposited crypto_amount + partner_fee, less what the platform accepted to be missing. */
export function offrampRelease(
  figures: ReleaseFigures & { partnerFee: bigint; shortfall?: bigint; buyer: Address },
): TokenTransfer[] {
  const {
    token,
    cryptoAmount,
    platformFee,
    partnerFee,
    shortfall = 0n,
    treasury,
    partnerWallet,
    buyer,
  } = figures;
  return payable([
    { token, to: buyer, amount: cryptoAmount - platformFee },
    { token, to: treasury, amount: platformFee - shortfall },
    { token, to: partnerWallet, amount: partnerFee },
  ]);
}

/** The whole deposit back to the seller, in either direction. */
export function refund(figures: { token: Address; deposit: bigint; seller: Address }): TokenTransfer[] {
  return payable([{ token: figures.token, to: figures.seller, amount: figures.deposit }]);
}

/** A fee of zero is not transferred: some tokens refuse it, and it would cost gas to say nothing. */
function payable(transfers: TokenTransfer[]): TokenTransfer[] {
  if (transfers.some(({ amount }) => amount < 0n)) throw new Error('a payout cannot be negative');
  const positive = transfers.filter(({ amount }) => amount > 0n);
  if (positive.length === 0) throw new Error('a payout moves something');
  return positive;
}
