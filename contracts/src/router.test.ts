import { type MemoryNode, startMemoryNode } from '@causeway/local-chain/testing';
import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  maxUint256,
  padHex,
  parseEventLogs,
  publicActions,
  walletActions,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { hardhat } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as feeOnTransferToken from './generated/fee-on-transfer-token.ts';
import * as reenteringToken from './generated/reentering-token.ts';
import { causewayRouter, erc2771Forwarder, testTether, testToken } from './index.ts';

const forwardRequestTypes = {
  ForwardRequest: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'gas', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint48' },
    { name: 'data', type: 'bytes' },
  ],
} as const;

interface ForwardRequest {
  from: Address;
  to: Address;
  value: bigint;
  gas: bigint;
  nonce: bigint;
  deadline: number;
  data: Hex;
}

// Deploys, mints and pays for gas, and owns none of the moved tokens.
const relayer = privateKeyToAccount(generatePrivateKey());
const startingBalance = 1_000_000_000n;
const amount = 25_000_001n;

let node: MemoryNode;
let chain: ReturnType<typeof connect>;
let forwarder: Address;
let router: Address;
let usdc: Address;
let usdt: Address;

function connect(rpcUrl: string) {
  return createTestClient({
    mode: 'hardhat',
    account: relayer,
    chain: hardhat,
    transport: http(rpcUrl),
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions);
}

beforeAll(async () => {
  node = await startMemoryNode(hardhat.id);
  chain = connect(node.rpcUrl);
  await chain.setBalance({ address: relayer.address, value: 10n ** 20n });
  forwarder = await deploy(erc2771Forwarder, ['Causeway']);
  router = await deploy(causewayRouter, [forwarder]);
  usdc = await deploy(testToken, ['USD Coin', 'USDC', 6, relayer.address]);
  usdt = await deploy(testTether, ['Tether USD', 'USDT', 6, relayer.address]);
});

afterAll(() => node?.stop());

async function deploy(artifact: { abi: Abi; bytecode: Hex }, args: unknown[]): Promise<Address> {
  const hash = await chain.deployContract({ abi: artifact.abi, bytecode: artifact.bytecode, args });
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash });
  return contractAddress!;
}

/** A fresh wallet per test, so that no test depends on another's nonces or balances. */
async function walletWith(token: Address, spender: Address = router): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  await chain.setBalance({ address: wallet.address, value: 10n ** 18n });
  await mined(
    chain.writeContract({
      abi: testToken.abi,
      address: token,
      functionName: 'mint',
      args: [wallet.address, startingBalance],
    }),
  );
  await mined(
    chain.writeContract({
      account: wallet,
      // TestTether's approve has the same selector and answers nothing; nothing is decoded here.
      abi: testToken.abi,
      address: token,
      functionName: 'approve',
      args: [spender, maxUint256],
    }),
  );
  return wallet;
}

async function mined(hash: Promise<Hex>) {
  const receipt = await chain.waitForTransactionReceipt({ hash: await hash });
  expect(receipt.status).toBe('success');
  return receipt;
}

const randomId = () => padHex(generatePrivateKey().slice(0, 34) as Hex, { size: 32 });
const randomAddress = () => privateKeyToAccount(generatePrivateKey()).address;
const balanceOf = (token: Address, account: Address) =>
  chain.readContract({ abi: testToken.abi, address: token, functionName: 'balanceOf', args: [account] });
const nonceOf = (account: Address) =>
  chain.readContract({
    abi: erc2771Forwarder.abi,
    address: forwarder,
    functionName: 'nonces',
    args: [account],
  });

function fundingData(orderId: Hex, token: Address, escrow: Address, atomic = amount): Hex {
  return encodeFunctionData({
    abi: causewayRouter.abi,
    functionName: 'fundEscrow',
    args: [orderId, token, escrow, atomic],
  });
}

async function requestOf(wallet: PrivateKeyAccount, data: Hex): Promise<ForwardRequest> {
  const { timestamp } = await chain.getBlock();
  return {
    from: wallet.address,
    to: router,
    value: 0n,
    gas: 300_000n,
    nonce: await nonceOf(wallet.address),
    deadline: Number(timestamp) + 600,
    data,
  };
}

function sign(signer: PrivateKeyAccount, request: ForwardRequest): Promise<Hex> {
  return signer.signTypedData({
    domain: { name: 'Causeway', version: '1', chainId: hardhat.id, verifyingContract: forwarder },
    types: forwardRequestTypes,
    primaryType: 'ForwardRequest',
    message: request,
  });
}

function executeCall(request: ForwardRequest, signature: Hex) {
  const { nonce: _implicit, ...fields } = request;
  return {
    abi: erc2771Forwarder.abi,
    address: forwarder,
    functionName: 'execute',
    args: [{ ...fields, signature }],
  } as const;
}

async function revertName(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
  } catch (error) {
    const reverted =
      error instanceof BaseError
        ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
        : undefined;
    if (reverted instanceof ContractFunctionRevertedError) return reverted.data?.errorName;
    throw error;
  }
  return undefined;
}

const refusalOf = (request: ForwardRequest, signature: Hex) =>
  revertName(chain.simulateContract(executeCall(request, signature)));

describe.each([
  ['a token that answers true', () => usdc],
  ['a token that answers nothing', () => usdt],
])('a signed forward request with %s', (_description, tokenAddress) => {
  test('funds the escrow from the signer and names order, token, wallets and amount in an event', async () => {
    const token = tokenAddress();
    const wallet = await walletWith(token);
    const [orderId, escrow] = [randomId(), randomAddress()];
    const request = await requestOf(wallet, fundingData(orderId, token, escrow));
    const receipt = await mined(chain.writeContract(executeCall(request, await sign(wallet, request))));

    expect(await balanceOf(token, escrow)).toBe(amount);
    expect(await balanceOf(token, wallet.address)).toBe(startingBalance - amount);
    expect(await balanceOf(token, router)).toBe(0n);
    const events = parseEventLogs({ abi: causewayRouter.abi, logs: receipt.logs });
    expect(events.map(({ eventName, args }) => ({ eventName, args }))).toEqual([
      {
        eventName: 'EscrowFunded',
        args: { orderId, token: tokenOf(token), from: wallet.address, to: escrow, amount },
      },
    ]);
  });

  test('deposits to a bridge solver and names the bridge quote in an event', async () => {
    const token = tokenAddress();
    const wallet = await walletWith(token);
    const [bridgeQuoteId, solver] = [randomId(), randomAddress()];
    const data = encodeFunctionData({
      abi: causewayRouter.abi,
      functionName: 'depositToBridge',
      args: [bridgeQuoteId, token, solver, amount],
    });
    const request = await requestOf(wallet, data);
    const receipt = await mined(chain.writeContract(executeCall(request, await sign(wallet, request))));

    expect(await balanceOf(token, solver)).toBe(amount);
    expect(await balanceOf(token, wallet.address)).toBe(startingBalance - amount);
    const events = parseEventLogs({ abi: causewayRouter.abi, logs: receipt.logs });
    expect(events.map(({ eventName, args }) => ({ eventName, args }))).toEqual([
      {
        eventName: 'BridgeDeposited',
        args: { bridgeQuoteId, token: tokenOf(token), from: wallet.address, to: solver, amount },
      },
    ]);
  });
});

/** Decoded logs carry checksummed addresses, receipts of deployments lower-case ones. */
function tokenOf(address: Address) {
  return expect.toSatisfy((value: unknown) => String(value).toLowerCase() === address.toLowerCase());
}

describe('a forward request is refused, and moves nothing, when', () => {
  test('it is signed by another key', async () => {
    const wallet = await walletWith(usdc);
    const request = await requestOf(wallet, fundingData(randomId(), usdc, randomAddress()));
    const stranger = privateKeyToAccount(generatePrivateKey());
    expect(await refusalOf(request, await sign(stranger, request))).toBe('ERC2771ForwarderInvalidSigner');
  });

  test('it is replayed', async () => {
    const wallet = await walletWith(usdc);
    const escrow = randomAddress();
    const request = await requestOf(wallet, fundingData(randomId(), usdc, escrow));
    const signature = await sign(wallet, request);
    await mined(chain.writeContract(executeCall(request, signature)));
    expect(await refusalOf(request, signature)).toBe('ERC2771ForwarderInvalidSigner');
    expect(await balanceOf(usdc, escrow)).toBe(amount);
  });

  test('its deadline has passed', async () => {
    const wallet = await walletWith(usdc);
    const request = await requestOf(wallet, fundingData(randomId(), usdc, randomAddress()));
    const { timestamp } = await chain.getBlock();
    const expired = { ...request, deadline: Number(timestamp) - 1 };
    expect(await refusalOf(expired, await sign(wallet, expired))).toBe('ERC2771ForwarderExpiredRequest');
  });

  test('it is signed for another nonce', async () => {
    const wallet = await walletWith(usdc);
    const request = await requestOf(wallet, fundingData(randomId(), usdc, randomAddress()));
    const early = { ...request, nonce: request.nonce + 1n };
    expect(await refusalOf(early, await sign(wallet, early))).toBe('ERC2771ForwarderInvalidSigner');
  });

  test.each([
    [
      'data',
      (request: ForwardRequest) => ({ ...request, data: fundingData(randomId(), usdc, randomAddress()) }),
    ],
    ['gas', (request: ForwardRequest) => ({ ...request, gas: request.gas + 1n })],
    ['deadline', (request: ForwardRequest) => ({ ...request, deadline: request.deadline + 1 })],
    ['from', (request: ForwardRequest) => ({ ...request, from: randomAddress() })],
  ])('its %s is altered after signing', async (_field, alter) => {
    const wallet = await walletWith(usdc);
    const request = await requestOf(wallet, fundingData(randomId(), usdc, randomAddress()));
    const signature = await sign(wallet, request);
    expect(await refusalOf(alter(request), signature)).toBe('ERC2771ForwarderInvalidSigner');
  });

  test('its target is a contract that does not trust the forwarder', async () => {
    const wallet = await walletWith(usdc, forwarder);
    const request = { ...(await requestOf(wallet, '0x')), to: usdc };
    expect(await refusalOf(request, await sign(wallet, request))).toBe('ERC2771UntrustfulTarget');
  });

  test('a second request, with its own valid nonce, funds the same order again', async () => {
    const wallet = await walletWith(usdc);
    const [orderId, escrow] = [randomId(), randomAddress()];
    const first = await requestOf(wallet, fundingData(orderId, usdc, escrow));
    await mined(chain.writeContract(executeCall(first, await sign(wallet, first))));
    const second = await requestOf(wallet, fundingData(orderId, usdc, escrow));
    expect(await refusalOf(second, await sign(wallet, second))).toBe('FailedCall');
    expect(await balanceOf(usdc, escrow)).toBe(amount);
  });
});

describe('the router, called directly,', () => {
  async function directRefusal(wallet: PrivateKeyAccount, token: Address, escrow: Address, atomic = amount) {
    return revertName(
      chain.simulateContract({
        account: wallet,
        // The error a token raises passes through the router, so both vocabularies are needed to name it.
        abi: [...causewayRouter.abi, ...testToken.abi.filter(({ type }) => type === 'error')],
        address: router,
        functionName: 'fundEscrow',
        args: [randomId(), token, escrow, atomic],
      }),
    );
  }

  test('moves only the caller’s own tokens: a caller that merely appends a victim’s address moves nothing', async () => {
    const victim = await walletWith(usdc);
    const attacker = await walletWith(usdc);
    const escrow = randomAddress();
    const spoofed = `${fundingData(randomId(), usdc, escrow)}${victim.address.slice(2)}` as Hex;
    await mined(chain.sendTransaction({ account: attacker, to: router, data: spoofed }));
    expect(await balanceOf(usdc, victim.address)).toBe(startingBalance);
    expect(await balanceOf(usdc, attacker.address)).toBe(startingBalance - amount);
  });

  test('lets a wallet use an order id only once, and a stranger’s use of it takes nothing away', async () => {
    const [wallet, stranger] = [await walletWith(usdc), await walletWith(usdc)];
    const [orderId, escrow] = [randomId(), randomAddress()];
    const fund = (account: PrivateKeyAccount) =>
      ({
        account,
        abi: causewayRouter.abi,
        address: router,
        functionName: 'fundEscrow',
        args: [orderId, usdc, escrow, 1n],
      }) as const;
    await mined(chain.writeContract(fund(stranger)));
    await mined(chain.writeContract(fund(wallet)));
    expect(await revertName(chain.simulateContract(fund(wallet)))).toBe('AlreadyMoved');
    expect(await balanceOf(usdc, escrow)).toBe(2n);
  });

  test('refuses a token that takes a fee of a single atomic unit', async () => {
    const token = await deploy(feeOnTransferToken, [relayer.address]);
    expect(await directRefusal(await walletWith(token), token, randomAddress())).toBe('InexactTransfer');
  });

  test('refuses a transfer to the wallet itself, whose balance does not grow', async () => {
    const wallet = await walletWith(usdc);
    expect(await directRefusal(wallet, usdc, wallet.address)).toBe('InexactTransfer');
  });

  test('refuses zero amounts and more than the wallet holds', async () => {
    const wallet = await walletWith(usdc);
    expect(await directRefusal(wallet, usdc, randomAddress(), 0n)).toBe('NothingToMove');
    expect(await directRefusal(wallet, usdc, randomAddress(), startingBalance + 1n)).toBe(
      'ERC20InsufficientBalance',
    );
  });

  test('refuses a token that re-enters it, although the re-entering call would be valid on its own', async () => {
    const token = await deploy(reenteringToken, [relayer.address]);
    const wallet = await walletWith(token);
    await mined(
      chain.writeContract({
        abi: reenteringToken.abi,
        address: token,
        functionName: 'mint',
        args: [token, amount],
      }),
    );
    await chain.impersonateAccount({ address: token });
    await chain.setBalance({ address: token, value: 10n ** 18n });
    await mined(
      chain.writeContract({
        account: token,
        abi: testToken.abi,
        address: token,
        functionName: 'approve',
        args: [router, maxUint256],
      }),
    );
    const inner = fundingData(randomId(), token, randomAddress());
    await chain.call({ account: token, to: router, data: inner });
    const arm = {
      abi: reenteringToken.abi,
      address: token,
      functionName: 'arm',
      args: [router, inner],
    } as const;
    await mined(chain.writeContract(arm));
    expect(await directRefusal(wallet, token, randomAddress())).toBe('ReentrancyGuardReentrantCall');
  });
});
