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
import type { Address, ChainSettings, ContractCall, Hex } from './chain-settings.ts';
import { escrowSaltNonce } from './order-key.ts';

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
