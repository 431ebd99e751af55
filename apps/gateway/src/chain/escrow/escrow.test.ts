import { randomUUID } from 'node:crypto';
import { safe } from '@causeway/contracts';
import { encodeFunctionData, erc20Abi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  forwardCall,
  fundEscrowData,
  hashForwardRequest,
  routerRequest,
} from '../authorization/forward-request.ts';
import {
  type Address,
  type ContractCall,
  type Hex,
  type TokenTransfer,
  tokenByCode,
} from '../chain-settings.ts';
import { approveRouter } from '../contracts/local-deployment.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { describeEscrow, type Escrow, offrampRelease, onrampRelease, ownersOf, refund } from './escrow.ts';
import { readExecution } from './escrow-execution.ts';
import {
  batchCall,
  EscrowSignerMismatchError,
  executionCall,
  hashSafeTransaction,
  packSignatures,
  payoutTransaction,
  recoverOwner,
  safeTypedData,
} from './safe-transaction.ts';

// crypto_amount, platform_fee and partner_fee of one order: odd on purpose, so that a rounding would show.
const cryptoAmount = 100_000_007n;
const platformFee = 500_003n;
const partnerFee = 1_000_001n;
const walletTokens = 1_000_000_000n;

let testChain: TestChain;
let service: TestWallet;
let partner: TestWallet;
let vendor: TestWallet;

beforeAll(async () => {
  testChain = await startTestChain(31_403);
  service = await testChain.fundedWallet();
});
afterAll(() => testChain?.stop());

/** Fresh parties, so that every balance in a test starts at the same figure. */
async function freshParties() {
  partner = await testChain.fundedWallet();
  vendor = await testChain.fundedWallet();
  const { settings } = testChain;
  await approveRouter(settings.rpcUrl, partner.privateKey, settings.contracts.router, settings.tokens);
}

async function signatures(escrow: Escrow, transfers: TokenTransfer[], signers: Signer[]) {
  const transaction = payoutTransaction(transfers, testChain.settings.contracts.multiSendCallOnly);
  const safeTxHash = hashSafeTransaction(escrow, transaction);
  const signed = await Promise.all(signers.map((signer) => signer.signDigest(safeTxHash)));
  return { transaction, safeTxHash, signed };
}

async function settlement(escrow: Escrow, transfers: TokenTransfer[], signers: Signer[]) {
  const { transaction, safeTxHash, signed } = await signatures(escrow, transfers, signers);
  const call = executionCall(escrow, transaction, await packSignatures(escrow, safeTxHash, signed));
  return { call, expected: { escrow: escrow.address, safeTxHash, transfers } };
}

const isDeployed = async (address: Address) => (await testChain.client.getCode({ address })) !== undefined;

function onrampEscrow(orderId: string = randomUUID()): Escrow {
  return describeEscrow(testChain.settings, orderId, {
    service: service.address,
    seller: vendor.address,
    buyer: partner.address,
  });
}

function offrampEscrow(orderId: string): Escrow {
  return describeEscrow(testChain.settings, orderId, {
    service: service.address,
    seller: partner.address,
    buyer: vendor.address,
  });
}

function plainTransfer(code: string, to: Address, amount: bigint): ContractCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  return { to: tokenByCode(testChain.settings, code).address, value: 0n, data };
}

/** An off-ramp order whose deposit the partner has paid by signing a forward request that the service submitted. */
async function fundedOfframp(code: string) {
  await freshParties();
  const { settings, client, send } = testChain;
  const orderId = randomUUID();
  const escrow = offrampEscrow(orderId);
  const token = tokenByCode(settings, code).address;
  const { timestamp } = await client.getBlock();
  const request = routerRequest(settings, {
    from: partner.address,
    nonce: 0n,
    deadline: Number(timestamp) + 600,
    gas: 200_000n,
    data: fundEscrowData({ orderId, token, escrow: escrow.address, amount: cryptoAmount + partnerFee }),
  });
  const signature = await partner.signDigest(hashForwardRequest(settings, request));
  expect((await send(service, forwardCall(settings, request, signature))).status).toBe('success');
  expect(await testChain.balanceOf(code, escrow.address)).toBe(cryptoAmount + partnerFee);
  const release = offrampRelease({
    token,
    cryptoAmount,
    platformFee,
    partnerFee,
    buyer: vendor.address,
    treasury: settings.treasury,
    partnerWallet: partner.address,
  });
  const refundTransfers = refund({ token, deposit: cryptoAmount + partnerFee, seller: partner.address });
  return { escrow, release, refund: refundTransfers };
}

describe('an escrow address', () => {
  // Proves D7.2, C4.6 rule 3.
  test('is known before anything exists and is where the Safe is deployed, 2 of 3, for these owners', async () => {
    await freshParties();
    const { client, send } = testChain;
    const escrow = onrampEscrow();
    expect(await isDeployed(escrow.address)).toBe(false);
    expect((await send(service, escrow.deploymentCall)).status).toBe('success');
    expect(await isDeployed(escrow.address)).toBe(true);

    const read = { abi: safe.abi, address: escrow.address } as const;
    expect(await client.readContract({ ...read, functionName: 'getOwners' })).toEqual(
      ownersOf(escrow.parties),
    );
    expect(await client.readContract({ ...read, functionName: 'getThreshold' })).toBe(2n);
    expect(await client.readContract({ ...read, functionName: 'nonce' })).toBe(0n);
    expect(await client.readContract({ ...read, functionName: 'VERSION' })).toBe('1.4.1');
    expect((await send(service, escrow.deploymentCall)).status).toBe('reverted');
  });

  test('differs with the order and with every owner', async () => {
    await freshParties();
    const { settings } = testChain;
    const orderId = randomUUID();
    const parties = { service: service.address, seller: vendor.address, buyer: partner.address };
    const other = randomWallet().address;
    const addresses = [
      describeEscrow(settings, orderId, parties),
      describeEscrow(settings, randomUUID(), parties),
      describeEscrow(settings, orderId, { ...parties, service: other }),
      describeEscrow(settings, orderId, { ...parties, seller: other }),
      describeEscrow(settings, orderId, { ...parties, buyer: other }),
      describeEscrow(settings, orderId, { ...parties, seller: parties.buyer, buyer: parties.seller }),
    ].map(({ address }) => address);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test('is refused for owners with which the Safe could never be deployed', async () => {
    const { settings } = testChain;
    const [a, b] = [randomWallet().address, randomWallet().address];
    const refused = (parties: { service: Address; seller: Address; buyer: Address }) =>
      expect(() => describeEscrow(settings, randomUUID(), parties)).toThrow('owner');
    refused({ service: a, seller: b, buyer: a });
    refused({ service: a, seller: b, buyer: b.toLowerCase() as Address });
    refused({ service: a, seller: b, buyer: '0x0000000000000000000000000000000000000001' });
  });

  test('and the Safe agree on the hash the owners sign', async () => {
    await freshParties();
    const escrow = onrampEscrow();
    await testChain.send(service, escrow.deploymentCall);
    const { transaction, safeTxHash } = await signatures(escrow, onrampTransfers('USDC'), []);
    const { to, value, data, operation, safeTxGas, baseGas, gasPrice, gasToken, refundReceiver, nonce } =
      transaction;
    const onChain = await testChain.client.readContract({
      abi: safe.abi,
      address: escrow.address,
      functionName: 'getTransactionHash',
      args: [to, value, data, operation, safeTxGas, baseGas, gasPrice, gasToken, refundReceiver, nonce],
    });
    expect(safeTxHash).toBe(onChain);
  });
});

function onrampTransfers(code: string): TokenTransfer[] {
  return onrampRelease({
    token: tokenByCode(testChain.settings, code).address,
    cryptoAmount,
    platformFee,
    treasury: testChain.settings.treasury,
    partnerWallet: partner.address,
  });
}

describe.each(['USDC', 'USDT', 'USDT0'])('an on-ramp escrow in %s', (code) => {
  // Proves D1.3.
  test('paid by plain transfer before it exists is deployed and released in one transaction, to the atomic unit', async () => {
    await freshParties();
    const { settings, send, balanceOf } = testChain;
    const treasuryBefore = await balanceOf(code, settings.treasury);
    const escrow = onrampEscrow();
    await send(vendor, plainTransfer(code, escrow.address, cryptoAmount));
    expect(await isDeployed(escrow.address)).toBe(false);

    const { call, expected } = await settlement(escrow, onrampTransfers(code), [vendor, service]);
    const receipt = await send(
      service,
      batchCall([escrow.deploymentCall, call], settings.contracts.multiSendCallOnly),
    );

    expect(readExecution(receipt, expected)).toEqual({ succeeded: true });
    expect(await balanceOf(code, partner.address)).toBe(walletTokens + cryptoAmount - platformFee);
    expect(await balanceOf(code, settings.treasury)).toBe(treasuryBefore + platformFee);
    expect(await balanceOf(code, vendor.address)).toBe(walletTokens - cryptoAmount);
    expect(await balanceOf(code, escrow.address)).toBe(0n);
  });
});

describe('an on-ramp escrow', () => {
  test('that stops goes back to the vendor with the service’s and the vendor’s signatures', async () => {
    await freshParties();
    const { settings, send, balanceOf } = testChain;
    const escrow = onrampEscrow();
    await send(vendor, plainTransfer('USDT', escrow.address, cryptoAmount));
    const token = tokenByCode(settings, 'USDT').address;
    const transfers = refund({ token, deposit: cryptoAmount, seller: vendor.address });
    const { call, expected } = await settlement(escrow, transfers, [service, vendor]);
    await send(service, escrow.deploymentCall);
    expect(readExecution(await send(service, call), expected)).toEqual({ succeeded: true });
    expect(await balanceOf('USDT', vendor.address)).toBe(walletTokens);
  });

  test('that holds less than the payout pays nothing, keeps its nonce, and pays all once it is filled', async () => {
    await freshParties();
    const { client, send, balanceOf } = testChain;
    const escrow = onrampEscrow();
    await send(vendor, plainTransfer('USDC', escrow.address, cryptoAmount - 1n));
    await send(service, escrow.deploymentCall);
    const { call, expected } = await settlement(escrow, onrampTransfers('USDC'), [service, vendor]);

    expect(readExecution(await send(service, call), expected)).toEqual({
      succeeded: false,
      reason: 'reverted',
    });
    expect(await balanceOf('USDC', partner.address)).toBe(walletTokens);
    const nonce = await client.readContract({
      abi: safe.abi,
      address: escrow.address,
      functionName: 'nonce',
    });
    expect(nonce).toBe(0n);

    await send(vendor, plainTransfer('USDC', escrow.address, 1n));
    expect(readExecution(await send(service, call), expected)).toEqual({ succeeded: true });
  });
});

describe.each(['USDC', 'USDT'])('an off-ramp escrow in %s, funded through forwarder and router,', (code) => {
  // Proves D1.3, D7.3, trap 9.
  test('pays buyer, treasury and partner fee in one transaction, and the signed refund is then refused', async () => {
    const order = await fundedOfframp(code);
    const { settings, send, balanceOf } = testChain;
    const treasuryBefore = await balanceOf(code, settings.treasury);
    const release = await settlement(order.escrow, order.release, [service, vendor]);
    const refunding = await settlement(order.escrow, order.refund, [partner, service]);
    await send(service, order.escrow.deploymentCall);

    expect(readExecution(await send(service, release.call), release.expected)).toEqual({ succeeded: true });
    expect(await balanceOf(code, vendor.address)).toBe(walletTokens + cryptoAmount - platformFee);
    expect(await balanceOf(code, settings.treasury)).toBe(treasuryBefore + platformFee);
    expect(await balanceOf(code, partner.address)).toBe(walletTokens - cryptoAmount);
    expect(await balanceOf(code, order.escrow.address)).toBe(0n);

    // A later deposit must not revive the other outcome either.
    await send(partner, plainTransfer(code, order.escrow.address, cryptoAmount + partnerFee));
    expect(readExecution(await send(service, refunding.call), refunding.expected).succeeded).toBe(false);
    expect(await balanceOf(code, order.escrow.address)).toBe(cryptoAmount + partnerFee);
  });

  // Proves D1.3, D7.3.
  test('refunds the whole deposit to the seller, and the signed release is then refused', async () => {
    const order = await fundedOfframp(code);
    const { settings, send, balanceOf } = testChain;
    const treasuryBefore = await balanceOf(code, settings.treasury);
    const release = await settlement(order.escrow, order.release, [service, vendor]);
    const refunding = await settlement(order.escrow, order.refund, [partner, service]);
    await send(service, order.escrow.deploymentCall);

    expect(readExecution(await send(service, refunding.call), refunding.expected)).toEqual({
      succeeded: true,
    });
    expect(await balanceOf(code, partner.address)).toBe(walletTokens);
    expect(await balanceOf(code, order.escrow.address)).toBe(0n);

    await send(partner, plainTransfer(code, order.escrow.address, cryptoAmount + partnerFee));
    expect(readExecution(await send(service, release.call), release.expected).succeeded).toBe(false);
    expect(await balanceOf(code, vendor.address)).toBe(walletTokens);
    expect(await balanceOf(code, settings.treasury)).toBe(treasuryBefore);
  });

  // Proves D7.4, trap 25.
  test('is refunded without the partner, by the service and the buyer', async () => {
    const order = await fundedOfframp(code);
    const refunding = await settlement(order.escrow, order.refund, [vendor, service]);
    await testChain.send(service, order.escrow.deploymentCall);
    expect(readExecution(await testChain.send(service, refunding.call), refunding.expected)).toEqual({
      succeeded: true,
    });
    expect(await testChain.balanceOf(code, partner.address)).toBe(walletTokens);
  });
});

describe('signatures', () => {
  // Proves C4.6 rule 3, C5 rule 4.
  test('of a third party, of one owner twice, or of one owner alone are refused before anything is sent', async () => {
    await freshParties();
    const escrow = onrampEscrow();
    const pack = async (signers: Signer[]) => {
      const { safeTxHash, signed } = await signatures(escrow, onrampTransfers('USDC'), signers);
      return packSignatures(escrow, safeTxHash, signed);
    };
    await expect(pack([service, randomWallet()])).rejects.toThrow(EscrowSignerMismatchError);
    await expect(pack([service, service])).rejects.toThrow('1 of 2 owners');
    await expect(pack([vendor])).rejects.toThrow('1 of 2 owners');
    await expect(packSignatures(escrow, `0x${'0'.repeat(64)}`, ['0x1234'])).rejects.toThrow('65 bytes');
  });

  test('made by an ordinary wallet over the typed data are the ones the Safe checks', async () => {
    await freshParties();
    const escrow = onrampEscrow();
    const { transaction, safeTxHash } = await signatures(escrow, onrampTransfers('USDC'), []);
    const signature = await privateKeyToAccount(vendor.privateKey).signTypedData(
      safeTypedData(escrow, transaction),
    );
    expect(await recoverOwner(escrow, safeTxHash, signature)).toBe(vendor.address);
  });

  test('of a third party are refused by the Safe as well', async () => {
    const order = await fundedOfframp('USDC');
    const { transaction, signed } = await signatures(order.escrow, order.release, [service, randomWallet()]);
    await testChain.send(service, order.escrow.deploymentCall);
    for (const packed of [signed, signed.toReversed()]) {
      const call = executionCall(
        order.escrow,
        transaction,
        `0x${packed.map((one) => one.slice(2)).join('')}`,
      );
      expect((await testChain.send(service, call)).status).toBe('reverted');
    }
    expect(await testChain.balanceOf('USDC', vendor.address)).toBe(walletTokens);
  });

  // Proves C4.6 rule 3.
  test('are accepted from every pair of owners in any order, also where v is written 0 or 1', async () => {
    await freshParties();
    const escrow = onrampEscrow();
    const pairs = [
      [service, vendor],
      [vendor, partner],
      [partner, service],
    ];
    for (const pair of pairs) {
      const { safeTxHash, signed } = await signatures(escrow, onrampTransfers('USDC'), pair);
      const packed = await packSignatures(escrow, safeTxHash, signed);
      expect(await packSignatures(escrow, safeTxHash, signed.toReversed())).toBe(packed);
      expect(await packSignatures(escrow, safeTxHash, signed.map(withParityByte))).toBe(packed);
      expect(await recoverOwner(escrow, safeTxHash, signed[0]!)).toBe(pair[0]!.address);
    }
  });
});

function withParityByte(signature: Hex): Hex {
  const parity = Number.parseInt(signature.slice(-2), 16) - 27;
  return `${signature.slice(0, -2)}0${parity}` as Hex;
}
