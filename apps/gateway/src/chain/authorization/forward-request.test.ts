import { randomUUID } from 'node:crypto';
import { causewayRouter, erc2771Forwarder } from '@causeway/contracts';
import { padHex, parseEventLogs } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Address, type Hex, tokenByCode } from '../chain-settings.ts';
import { approveRouter } from '../contracts/local-deployment.ts';
import { orderKey } from '../escrow/escrow.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import {
  depositToBridgeData,
  type ForwardRequest,
  forwardCall,
  forwardTypedData,
  fundEscrowData,
  routerRequest,
} from './forward-request.ts';

const amount = 7_654_321n;

let testChain: TestChain;
let relayer: TestWallet;
let partner: TestWallet;
let token: Address;

beforeAll(async () => {
  testChain = await startTestChain(31_406);
  relayer = await testChain.fundedWallet();
  partner = await testChain.fundedWallet();
  token = tokenByCode(testChain.settings, 'USDT').address;
  const { rpcUrl, contracts, tokens } = testChain.settings;
  await approveRouter(rpcUrl, partner.privateKey, contracts.router, tokens);
});
afterAll(() => testChain?.stop());

async function requestFor(data: Hex): Promise<ForwardRequest> {
  const { client, settings } = testChain;
  const { timestamp } = await client.getBlock();
  const nonce = await client.readContract({
    abi: erc2771Forwarder.abi,
    address: settings.contracts.forwarder,
    functionName: 'nonces',
    args: [partner.address],
  });
  return routerRequest(settings, {
    from: partner.address,
    nonce,
    deadline: Number(timestamp) + 600,
    gas: 200_000n,
    data,
  });
}

/** As a partner's own wallet software would sign it, knowing nothing but the typed data. */
function signAsWallet(request: ForwardRequest): Promise<Hex> {
  return privateKeyToAccount(partner.privateKey).signTypedData(forwardTypedData(testChain.settings, request));
}

async function submit(request: ForwardRequest) {
  const { settings, send } = testChain;
  const receipt = await send(relayer, forwardCall(settings, request, await signAsWallet(request)));
  expect(receipt.status).toBe('success');
  return parseEventLogs({ abi: causewayRouter.abi, logs: receipt.logs });
}

describe('typed data signed by an ordinary wallet', () => {
  // Proves D7.5.
  test('funds an escrow, and the event names the order', async () => {
    const [orderId, escrow] = [randomUUID(), randomWallet().address];
    const [event] = await submit(await requestFor(fundEscrowData({ orderId, token, escrow, amount })));
    if (event?.eventName !== 'EscrowFunded') throw new Error('no EscrowFunded');
    expect(event.args.orderId).toBe(orderKey(orderId));
    expect(event.args).toMatchObject({ token, from: partner.address, to: escrow, amount });
    expect(await testChain.balanceOf('USDT', escrow)).toBe(amount);
  });

  // Proves D7.5.
  test('pays a bridge solver, and the event names the bridge quote', async () => {
    const [bridgeQuoteId, solver] = [padHex('0xb1d9e', { size: 32 }), randomWallet().address];
    const data = depositToBridgeData({ bridgeQuoteId, token, solver, amount });
    const [event] = await submit(await requestFor(data));
    expect(event).toMatchObject({
      eventName: 'BridgeDeposited',
      args: { bridgeQuoteId, token, from: partner.address, to: solver, amount },
    });
    expect(await testChain.balanceOf('USDT', solver)).toBe(amount);
  });

  test('names the domain the forwarder itself names', async () => {
    const { client, settings } = testChain;
    const [, name, version, chainId, verifyingContract] = await client.readContract({
      abi: erc2771Forwarder.abi,
      address: settings.contracts.forwarder,
      functionName: 'eip712Domain',
    });
    const { domain } = forwardTypedData(settings, await requestFor('0x'));
    expect({ ...domain, chainId: BigInt(domain.chainId) }).toEqual({
      name,
      version,
      chainId,
      verifyingContract,
    });
  });
});
