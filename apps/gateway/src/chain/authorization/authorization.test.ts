import { randomUUID } from 'node:crypto';
import {
  type AuthorizationEnd,
  CausewayError,
  RefundAuthorizationParametersSchema,
  TransferAuthorizationParametersSchema,
} from '@causeway/protocol';
import { Value } from 'typebox/value';
import { decodeFunctionData, erc20Abi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { partnerScope, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Intent } from '../../engine/intent.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { tokenByCode } from '../chain-settings.ts';
import type { Chains } from '../chains.ts';
import { approveRouter } from '../contracts/local-deployment.ts';
import { describeEscrow } from '../escrow/escrow.ts';
import { hashSafeTransaction, payoutTransaction } from '../escrow/safe-transaction.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { tokenTransferCall } from '../token-reads.ts';
import { findTransaction, gasPerOrder, type SignedVersion } from '../transactions/transaction.store.ts';
import { createTransactor, type TransactorDeps } from '../transactions/transactor.ts';
import { createWatcher } from '../watcher/watcher.ts';
import { acceptAuthorization, acceptOwnerSignature, payoutParameters } from './accept-authorization.ts';
import { findSigned, settle } from './authorization.store.ts';
import { type Authorization, bridgeParameters, transferParameters } from './authorization.ts';
import { forwardCall, fundEscrowData, hashForwardRequest, routerRequest } from './forward-request.ts';
import { nextNonce } from './forwarder-nonces.store.ts';
import { type AuthorizationRequest, issueAuthorization } from './issue-authorization.ts';
import { authorizationRelayHandler, settleAuthorizations } from './relay-authorization.ts';

const AMOUNT = 12_345_678n;

const readStatus = statement<[orderId: string], { status: string; succeeded: boolean | null }>(
  'test.authorization_status',
  `SELECT status, succeeded FROM forward_authorizations WHERE order_id = $1 AND status <> 'issued' ORDER BY nonce`,
);

let chain: TestChain;
let database: TestDatabase;
let service: TestWallet;
let chains: Chains;

const clock = createClock();
const ids = createIdGenerator();
const logger = createLogger({ level: 'silent', format: 'json' });

beforeAll(async () => {
  chain = await startTestChain(31_409);
  database = await openTestDatabase();
  service = await chain.fundedWallet();
  const connected = { settings: chain.settings, client: chain.client };
  chains = { service, all: [connected], get: () => connected };
});
afterAll(async () => {
  await database?.close();
  await chain?.stop();
});

const deps = () => ({ db: database.db, clock, ids });

async function newPartner({ approved = true } = {}) {
  const partnerId = randomUUID();
  await insertPartner(database.owner, partnerId);
  const wallet = await chain.fundedWallet();
  const { rpcUrl, contracts, tokens } = chain.settings;
  if (approved) await approveRouter(rpcUrl, wallet.privateKey, contracts.router, tokens);
  return { partnerId, wallet };
}
type Partner = Awaited<ReturnType<typeof newPartner>>;

function requestOf(
  { partnerId, wallet }: Partner,
  others: Partial<AuthorizationRequest> = {},
): AuthorizationRequest {
  return {
    orderId: randomUUID(),
    partnerId,
    sender: wallet.address,
    token: tokenByCode(chain.settings, 'USDC').address,
    amount: AMOUNT,
    recipient: randomWallet().address,
    ...others,
  };
}

const issue = (requested: AuthorizationRequest) => issueAuthorization(deps(), chains.get(''), requested);
const parametersOf = (issued: Authorization) =>
  transferParameters(chain.settings, tokenByCode(chain.settings, 'USDC'), issued);

/** Signs what the parameters say, as an ordinary wallet does. */
async function sign({ wallet }: Partner, issued: Authorization) {
  const { forward_request, eip712_domain, types, primary_type } = parametersOf(issued);
  const signature = await privateKeyToAccount(wallet.privateKey).signTypedData({
    domain: { ...eip712_domain, verifyingContract: issued.forwarder },
    types,
    primaryType: primary_type,
    message: forward_request,
  });
  return { forwardRequest: forward_request, signature };
}

function accept(
  issued: Authorization,
  signed: { forwardRequest: Record<string, string>; signature: string },
  destination?: { chain: string; address: string },
) {
  return unitOfWork(deps(), partnerScope(issued.partnerId), (unit) =>
    acceptAuthorization(unit, chain.settings, {
      orderId: issued.orderId,
      purpose: issued.purpose,
      forwardRequest: signed.forwardRequest as never,
      signature: signed.signature,
      ...(destination === undefined ? {} : { destination }),
    }),
  );
}

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'accepted',
    (error: unknown) => {
      if (!(error instanceof CausewayError)) throw error;
      return [error.code, error.details.field].filter((part) => part !== undefined).join(' ');
    },
  );

describe('parameters', () => {
  // Proves C4.6 row 3.
  test('have the contract’s names, and what they say is what the wallet signs and the chain executes', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const parameters = parametersOf(issued);
    expect(Value.Check(TransferAuthorizationParametersSchema, parameters)).toBe(true);
    expect(parameters).toMatchObject({
      amount_atomic: '12345678',
      amount_human: '12.345678',
      sender_address: partner.wallet.address,
      escrow_address: issued.recipient,
      forwarder_nonce: '0',
      rpc_url: chain.settings.publicRpcUrl,
      authorization_path: `/api/v1/partner/orders/${issued.orderId}/authorize-crypto-transfer`,
    });
    const accepted = await accept(issued, await sign(partner, issued));
    const stranger = await chain.fundedWallet();
    const request = { ...accepted, from: accepted.sender, to: accepted.router, value: 0n };
    await chain.send(stranger, forwardCall(chain.settings, request, accepted.signature ?? '0x'));
    expect(await chain.balanceOf('USDC', issued.recipient)).toBe(AMOUNT);
  });

  test('asked for again are the same while they are good', async () => {
    const requested = requestOf(await newPartner());
    const first = await issue(requested);
    expect((await issue(requested)).authorizationId).toBe(first.authorizationId);
    expect((await issue({ ...requested, amount: AMOUNT + 1n })).authorizationId).not.toBe(
      first.authorizationId,
    );
  });

  // Proves C7 ALLOWANCE_TOO_LOW.
  test('are refused to a wallet that has not approved the router, with the call that would', async () => {
    const partner = await newPartner({ approved: false });
    const error = await issue(requestOf(partner)).catch((caught: unknown) => caught as CausewayError);
    expect(error).toMatchObject({
      code: 'ALLOWANCE_TOO_LOW',
      status: 409,
      details: {
        token_address: tokenByCode(chain.settings, 'USDC').address,
        spender_address: chain.settings.contracts.router,
        required: '12345678',
        actual: '0',
      },
    });
    const data = (error as CausewayError).details.approve_calldata as `0x${string}`;
    expect(decodeFunctionData({ abi: erc20Abi, data })).toEqual({
      functionName: 'approve',
      args: [chain.settings.contracts.router, AMOUNT],
    });
    await chain.send(partner.wallet, { to: tokenByCode(chain.settings, 'USDC').address, data, value: 0n });
    expect((await issue(requestOf(partner))).amount).toBe(AMOUNT);
  });

  // Proves C7 BALANCE_TOO_LOW.
  test('are refused to a wallet that holds too little', async () => {
    const partner = await newPartner();
    const error = issue(requestOf(partner, { amount: 1_000_000_001n }));
    await expect(error).rejects.toMatchObject({
      code: 'BALANCE_TOO_LOW',
      details: { required: '1000000001', actual: '1000000000' },
    });
  });

  // Proves trap 22.
  test('show the public address of a node, never the one that carries a provider’s key', async () => {
    const settings = {
      ...chain.settings,
      rpcUrl: 'https://node.example/provider-key',
      rpcUrls: ['https://node.example/provider-key'],
      publicRpcUrl: 'https://public.example',
    };
    const token = tokenByCode(settings, 'USDC');
    const partner = await newPartner();
    const bridge = {
      quoteId: `0x${'cd'.repeat(32)}`,
      toAmount: '1',
      destinationChain: 'arbitrum-one',
      destinationAddress: randomWallet().address,
    } as const;
    const parties = {
      service: service.address,
      seller: partner.wallet.address,
      buyer: randomWallet().address,
    };
    const orderId = randomUUID();
    const transfers = [{ token: token.address, to: partner.wallet.address, amount: AMOUNT }];
    for (const parameters of [
      transferParameters(settings, token, await issue(requestOf(partner))),
      bridgeParameters(settings, token, await issue(requestOf(partner, { bridge }))),
      payoutParameters(settings, token, {
        orderId,
        purpose: 'refund',
        escrow: describeEscrow(settings, orderId, parties),
        transaction: payoutTransaction(transfers, settings.contracts.multiSendCallOnly),
        amount: AMOUNT,
        signer: 'seller',
      }),
    ]) {
      expect(parameters.rpc_url).toBe('https://public.example');
      expect(JSON.stringify(parameters)).not.toContain('provider-key');
    }
  });

  test('of a send-out can be signed only as long as the bridge’s offer stands', async () => {
    const expiresAt = new Date(clock.now() + 90_000).toISOString();
    const bridge = {
      quoteId: `0x${'ef'.repeat(32)}`,
      toAmount: '1',
      destinationChain: 'arbitrum-one',
      destinationAddress: randomWallet().address,
      expiresAt,
    } as const;
    const issued = await issue(requestOf(await newPartner(), { bridge }));
    expect(issued.expiresAt.getTime()).toBeLessThanOrEqual(Date.parse(expiresAt));
    const { recommended_ttl: ttl } = bridgeParameters(
      chain.settings,
      tokenByCode(chain.settings, 'USDC'),
      issued,
    );
    expect(ttl).toBeGreaterThan(60);
    expect(ttl).toBeLessThanOrEqual(90);
  });

  // Proves C4.5 row 5.
  test('of a send-out carry the bridge’s quote and where it goes', async () => {
    const partner = await newPartner();
    const bridge = {
      quoteId: `0x${'ab'.repeat(32)}`,
      toAmount: '12300000',
      destinationChain: 'arbitrum-one',
      destinationAddress: randomWallet().address,
    } as const;
    const issued = await issue(requestOf(partner, { bridge }));
    expect(bridgeParameters(chain.settings, tokenByCode(chain.settings, 'USDC'), issued)).toMatchObject({
      quote_id: bridge.quoteId,
      to_amount: '12300000',
      destination_chain: 'arbitrum-one',
      destination_address: bridge.destinationAddress,
      solver_address: issued.recipient,
      authorization_path: expect.stringMatching(/authorize-bridge$/),
    });
    const signed = await sign(partner, issued);
    const elsewhere = { chain: 'arbitrum-one', address: randomWallet().address };
    expect(await codeOf(accept(issued, signed, elsewhere))).toBe('INVALID_DESTINATION destination_address');
    const otherChain = { chain: 'base-mainnet', address: bridge.destinationAddress };
    expect(await codeOf(accept(issued, signed, otherChain))).toBe('INVALID_DESTINATION destination_chain');
    const right = { chain: 'arbitrum-one', address: bridge.destinationAddress.toLowerCase() };
    expect(await codeOf(accept(issued, signed, right))).toBe('accepted');
  });
});

describe('what comes back', () => {
  // Proves trap 21, C7 INVALID_FORWARD_REQUEST.
  test.each([
    ['from', (): string => randomWallet().address],
    ['to', (): string => randomWallet().address],
    ['value', (): string => '1'],
    ['gas', (): string => '299999'],
    ['nonce', (): string => '1'],
    ['deadline', (): string => '9999999999'],
    ['data', (): string => '0x1234'],
  ] as const)('with another %s is refused, though correctly signed', async (field, other) => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const forwardRequest = { ...parametersOf(issued).forward_request, [field]: other() };
    const { eip712_domain, types, primary_type } = parametersOf(issued);
    const signature = await privateKeyToAccount(partner.wallet.privateKey).signTypedData({
      domain: { ...eip712_domain, verifyingContract: issued.forwarder },
      types,
      primaryType: primary_type,
      message: forwardRequest,
    });
    expect(await codeOf(accept(issued, { forwardRequest, signature }))).toBe(
      `INVALID_FORWARD_REQUEST ${field}`,
    );
  });

  // Proves C5 rule 4, C7 INVALID_SIGNATURE.
  test('signed by another wallet, or not at all, is refused', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const { forwardRequest } = await sign(partner, issued);
    const another = randomWallet();
    const { signature } = await sign({ ...partner, wallet: another }, issued);
    const expected_signer = partner.wallet.address;
    await expect(accept(issued, { forwardRequest, signature })).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
      details: { expected_signer, recovered_signer: another.address },
    });
    await expect(accept(issued, { forwardRequest, signature: '0x' })).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
      details: { expected_signer, recovered_signer: null },
    });
  });

  // Proves C7 NONCE_ALREADY_USED.
  test('is accepted once, however many send it at the same time', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const signed = await sign(partner, issued);
    const codes = await Promise.all(Array.from({ length: 6 }, () => codeOf(accept(issued, signed))));
    expect(codes.toSorted()).toEqual([
      'NONCE_ALREADY_USED',
      'NONCE_ALREADY_USED',
      'NONCE_ALREADY_USED',
      'NONCE_ALREADY_USED',
      'NONCE_ALREADY_USED',
      'accepted',
    ]);
  });

  // Proves trap 18.
  test('of two orders with the same nonce is accepted for one; the other gets the next nonce', async () => {
    const partner = await newPartner();
    const [requested, otherRequest] = [requestOf(partner), requestOf(partner)];
    const [first, second] = [await issue(requested), await issue(otherRequest)];
    expect(second.nonce).toBe(first.nonce);
    const codes = await Promise.all([
      codeOf(accept(first, await sign(partner, first))),
      codeOf(accept(second, await sign(partner, second))),
    ]);
    expect(codes.toSorted()).toEqual(['NONCE_ALREADY_USED', 'accepted']);
    const again = await issue(codes[0] === 'accepted' ? otherRequest : requested);
    expect(again.nonce).toBe(first.nonce + 1n);
    expect(await codeOf(accept(again, await sign(partner, again)))).toBe('accepted');
  });

  test('after its time is refused', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const signed = await sign(partner, issued);
    const later = createClock(() => issued.expiresAt.getTime() + 1);
    const attempt = unitOfWork({ ...deps(), clock: later }, partnerScope(issued.partnerId), (unit) =>
      acceptAuthorization(unit, chain.settings, { ...signed, orderId: issued.orderId, purpose: 'funding' }),
    );
    expect(await codeOf(attempt)).toBe('INVALID_FORWARD_REQUEST deadline');
  });
});

describe('a signed request', () => {
  async function relaying(hotWallet: Signer = service, ofTransactor: Partial<TransactorDeps> = {}) {
    const ends: { orderId: string; end: AuthorizationEnd }[] = [];
    const onSettled = async ({ orderId }: Authorization, end: AuthorizationEnd) => {
      ends.push({ orderId, end });
    };
    const transactor = createTransactor({
      ...deps(),
      chains: chains.all,
      signers: [hotWallet],
      ...ofTransactor,
    });
    const handler = authorizationRelayHandler(
      { ...deps(), chains, transactor, logger, onSettled },
      'funding',
    );
    const watcher = createWatcher({
      ...deps(),
      logger,
      settings: chain.settings,
      client: chain.client,
      handlers: [settleAuthorizations({ chains, onSettled })],
      bookHeldDeposits: () => {},
    });
    await watcher.catchUp();
    const turn = async (orderId: string) => {
      const outcome = await handler.perform({ payload: { order_id: orderId } } as Intent<'transfer.relay'>);
      if (outcome.kind === 'confirmed' && outcome.followUp !== undefined) {
        await unitOfWork(deps(), SYSTEM, outcome.followUp);
      }
      await watcher.catchUp();
      return outcome;
    };
    /** Takes turns, as the worker does, until the intent is settled. */
    const untilOver = async (orderId: string) => {
      for (let turns = 0; turns < 50; turns++) {
        const outcome = await turn(orderId);
        if (outcome.kind !== 'waiting') return outcome;
      }
      throw new Error('the relay does not end');
    };
    return { turn, untilOver, ends, watcher };
  }

  /** The wallet itself signs something else for the nonce of a request, and a third party executes that. */
  async function spendOtherwise(
    { wallet }: Partner,
    issued: Pick<Authorization, 'nonce' | 'deadline' | 'token'>,
  ) {
    const request = routerRequest(chain.settings, {
      from: wallet.address,
      nonce: issued.nonce,
      deadline: issued.deadline,
      gas: 300_000n,
      data: fundEscrowData({
        orderId: randomUUID(),
        token: issued.token,
        escrow: randomWallet().address,
        amount: 1n,
      }),
    });
    const signature = await wallet.signDigest(hashForwardRequest(chain.settings, request));
    return chain.send(await chain.fundedWallet(), forwardCall(chain.settings, request, signature));
  }
  /** A third party executes what was issued and signed. */
  async function executeFirst(issued: Authorization, signature: string) {
    const request = { ...issued, from: issued.sender, to: issued.router, value: 0n };
    const call = forwardCall(chain.settings, request, signature as `0x${string}`);
    return chain.send(await chain.fundedWallet(), call);
  }

  const statusOf = (orderId: string) => database.db.query(SYSTEM, readStatus, [orderId]);

  // Proves trap 19.
  test('is relayed once and settled by the forwarder’s event', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    await accept(issued, await sign(partner, issued));
    const { untilOver, ends } = await relaying();
    expect(await untilOver(issued.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
    expect(await chain.balanceOf('USDC', issued.recipient)).toBe(AMOUNT);
    expect(await statusOf(issued.orderId)).toEqual([{ status: 'spent', succeeded: true }]);
    expect(ends.filter(({ orderId }) => orderId === issued.orderId)).toEqual([
      { orderId: issued.orderId, end: 'spent' },
    ]);
  });

  // Proves trap 19, trap 41.
  test('that somebody else executed first is settled by the forwarder’s event, not by our transaction, and paid once', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const accepted = await accept(issued, await sign(partner, issued));
    const request = { ...accepted, from: accepted.sender, to: accepted.router, value: 0n };
    await chain.send(
      await chain.fundedWallet(),
      forwardCall(chain.settings, request, accepted.signature ?? '0x'),
    );
    const { untilOver, ends } = await relaying();
    await untilOver(issued.orderId);
    expect(await chain.balanceOf('USDC', issued.recipient)).toBe(AMOUNT);
    expect(ends).toContainEqual({ orderId: issued.orderId, end: 'spent' });
  });

  test('whose transaction lost its nonce to another of the wallet is relayed by a second one, and paid once', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    await accept(issued, await sign(partner, issued));
    const hotWallet = await chain.fundedWallet();
    const clearing: Signer = {
      address: hotWallet.address,
      signDigest: async (digest) => {
        if ((await chain.client.getTransactionCount({ address: hotWallet.address })) === 0) {
          await chain.send(hotWallet, { to: hotWallet.address, value: 0n, data: '0x' });
        }
        return hotWallet.signDigest(digest);
      },
    };
    const { untilOver, ends } = await relaying(clearing);
    expect(await untilOver(issued.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
    expect(await chain.balanceOf('USDC', issued.recipient)).toBe(AMOUNT);
    expect(await statusOf(issued.orderId)).toEqual([{ status: 'spent', succeeded: true }]);
    expect(ends).toContainEqual({ orderId: issued.orderId, end: 'spent' });
    expect(await chain.client.getTransactionCount({ address: hotWallet.address })).toBe(2);
    // Both of its transactions are found by the queries that go from a transaction to its order.
    expect(await gasPerOrder(database.db, chain.settings.chainId)).toMatchObject({
      orders: expect.any(Number),
    });
  });

  test.each([
    ['was never signed', true],
    ['has become too cheap', false],
  ])(
    'whose transaction %s when its nonce is spent otherwise leaves no gap: the order’s next request is paid',
    async (_what, isUnsigned) => {
      const partner = await newPartner();
      const requested = requestOf(partner);
      const first = await issue(requested);
      await accept(first, await sign(partner, first));
      const hotWallet = await chain.fundedWallet();
      let isAway = isUnsigned;
      const signer: Signer = {
        address: hotWallet.address,
        signDigest: (digest) => {
          if (isAway) throw new Error('the key service is away');
          return hotWallet.signDigest(digest);
        },
      };
      let now = clock.now();
      const { turn, untilOver, watcher } = await relaying(signer, { clock: createClock(() => now) });
      if (isUnsigned) {
        await expect(turn(first.orderId)).rejects.toThrow('away');
        isAway = false;
      } else {
        await chain.control.setAutomine(false);
        expect(await turn(first.orderId)).toMatchObject({ kind: 'waiting' });
        const record = await findTransaction(database.db, `forward:${first.authorizationId}`);
        await chain.control.dropTransaction({ hash: record!.versions[0]!.txHash });
        await chain.control.setAutomine(true);
      }
      await spendOtherwise(partner, first);
      await watcher.catchUp();
      expect(await statusOf(first.orderId)).toMatchObject([{ status: 'spent' }]);

      const second = await issue(requested);
      await accept(second, await sign(partner, second));
      await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 60n * 10n ** 9n });
      await chain.control.mine({ blocks: 1 });
      now += 60_000;
      expect(await untilOver(second.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
      expect(await chain.balanceOf('USDC', requested.recipient)).toBe(AMOUNT);
      expect(await chain.client.getTransactionCount({ address: hotWallet.address })).toBe(2);
    },
  );

  test('that was executed before it was handed in is settled, though it is accepted while the watcher reports another of its wallet', async () => {
    const partner = await newPartner();
    const issued = await issue(requestOf(partner));
    const signed = await sign(partner, issued);
    const { ends } = await relaying();
    await executeFirst(issued, signed.signature);
    await spendOtherwise(partner, { ...issued, nonce: issued.nonce + 1n });
    const reporting = Promise.withResolvers<void>();
    const acceptance = reporting.promise.then(() => codeOf(accept(issued, signed)));
    const watcher = createWatcher({
      ...deps(),
      logger,
      settings: chain.settings,
      client: chain.client,
      handlers: [
        async (fact) => {
          if (fact.type !== 'forward_executed') return;
          reporting.resolve();
          await acceptance;
        },
        settleAuthorizations({
          chains,
          onSettled: async ({ orderId }, end) => void ends.push({ orderId, end }),
        }),
      ],
      bookHeldDeposits: () => {},
    });
    await watcher.catchUp();
    expect(await acceptance).toBe('accepted');
    expect(await statusOf(issued.orderId)).toEqual([{ status: 'spent', succeeded: true }]);
    expect(ends).toContainEqual({ orderId: issued.orderId, end: 'spent' });
  });

  // Proves trap 18.
  test('of the same wallet waits for the one before it, and both are paid', async () => {
    const partner = await newPartner();
    const first = await issue(requestOf(partner));
    await accept(first, await sign(partner, first));
    const second = await issue(requestOf(partner));
    await accept(second, await sign(partner, second));
    const { turn, untilOver } = await relaying();
    expect(await turn(second.orderId)).toMatchObject({ kind: 'waiting' });
    expect(await chain.balanceOf('USDC', second.recipient)).toBe(0n);
    await untilOver(first.orderId);
    await untilOver(second.orderId);
    expect(await chain.balanceOf('USDC', first.recipient)).toBe(AMOUNT);
    expect(await chain.balanceOf('USDC', second.recipient)).toBe(AMOUNT);
  });

  test('that lapses leaves its nonce to the next one signed, so those behind it are not stuck', async () => {
    const partner = await newPartner();
    const requested = requestOf(partner);
    const first = await issue(requested);
    await accept(first, await sign(partner, first));
    const { timestamp } = await chain.client.getBlock();
    await chain.control.setNextBlockTimestamp({ timestamp: timestamp + 300n });
    await chain.control.mine({ blocks: 1 });
    const behind = await issue(requestOf(partner));
    await accept(behind, await sign(partner, behind));
    expect(behind.nonce).toBe(first.nonce + 1n);

    await chain.control.setNextBlockTimestamp({ timestamp: BigInt(first.deadline) + 1n });
    await chain.control.mine({ blocks: 1 });
    const { turn, untilOver } = await relaying();
    expect(await untilOver(first.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'lapsed' } });
    expect(await turn(behind.orderId)).toMatchObject({ kind: 'waiting' });

    const [again, another] = [await issue(requested), await issue(requestOf(partner))];
    expect([again.nonce, another.nonce]).toEqual([first.nonce, first.nonce]);
    const codes = await Promise.all([
      codeOf(accept(again, await sign(partner, again))),
      codeOf(accept(another, await sign(partner, another))),
    ]);
    expect(codes.toSorted()).toEqual(['NONCE_ALREADY_USED', 'accepted']);
    const inFront = codes[0] === 'accepted' ? again : another;
    expect((await issue(requestOf(partner))).nonce).toBe(behind.nonce + 1n);
    for (const { orderId, recipient } of [inFront, behind]) {
      expect(await untilOver(orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
      expect(await chain.balanceOf('USDC', recipient)).toBe(AMOUNT);
    }
  });

  test('is taken and found again, however many other requests were shown for its order after it', async () => {
    const partner = await newPartner();
    const requested = requestOf(partner);
    const issued = await issue(requested);
    const showOthers = async () => {
      for (let n = 0; n < 25; n++) await issue({ ...requested, recipient: randomWallet().address });
    };
    await showOthers();
    await accept(issued, await sign(partner, issued));
    await showOthers();
    const signed = await findSigned(database.db, issued.orderId, 'funding');
    expect(signed?.authorizationId).toBe(issued.authorizationId);
    expect(await codeOf(accept(issued, await sign(partner, issued)))).toBe('NONCE_ALREADY_USED');
    const strange = await sign(partner, issued);
    strange.forwardRequest = { ...strange.forwardRequest, nonce: '\0' };
    expect(await codeOf(accept(issued, strange))).toBe('INVALID_FORWARD_REQUEST nonce');
    const { untilOver } = await relaying();
    expect(await untilOver(issued.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
    expect(await chain.balanceOf('USDC', issued.recipient)).toBe(AMOUNT);
  });

  test('holds its nonce for the wallet at another partner too, and what lapsed there is free here', async () => {
    const partner = await newPartner();
    const other = { ...partner, partnerId: (await newPartner()).partnerId };
    const [first, second] = [await issue(requestOf(partner)), await issue(requestOf(other))];
    await accept(first, await sign(partner, first));
    expect(await codeOf(accept(second, await sign(other, second)))).toBe('NONCE_ALREADY_USED');
    const behind = await issue(requestOf(other));
    expect(behind.nonce).toBe(first.nonce + 1n);
    await accept(behind, await sign(other, behind));
    await unitOfWork(deps(), SYSTEM, async (unit) => {
      await settle(unit, first.authorizationId, { on: 'deadline_passed' });
    });
    expect((await issue(requestOf(other))).nonce).toBe(first.nonce);
  });

  test('that is spent holds its nonce although no count has it yet, and the highest count of all partners holds', async () => {
    const partner = await newPartner();
    const other = { ...partner, partnerId: (await newPartner()).partnerId };
    const first = await issue(requestOf(partner));
    await accept(first, await sign(partner, first));
    await unitOfWork(deps(), SYSTEM, async (unit) => {
      const txHash = `0x${'ab'.repeat(32)}` as const;
      await settle(unit, first.authorizationId, { on: 'nonce_spent', txHash, succeeded: true });
    });
    expect((await issue(requestOf(other))).nonce).toBe(first.nonce + 1n);
    const seenByPartner = (observed: bigint) =>
      unitOfWork(deps(), partnerScope(partner.partnerId), (unit) =>
        nextNonce(unit, first, partner.partnerId, observed),
      );
    expect(await seenByPartner(first.nonce + 5n)).toBe(first.nonce + 5n);
    expect((await issue(requestOf(other))).nonce).toBe(first.nonce + 5n);
    expect(await seenByPartner(0n)).toBe(first.nonce + 5n);
  });

  // Proves trap 20.
  test('whose transaction is mined and reverts stays valid while its nonce is unspent: executed later, it is paid once', async () => {
    const partner = await newPartner();
    const requested = requestOf(partner);
    const issued = await issue(requested);
    const signed = await sign(partner, issued);
    await accept(issued, signed);
    const second = await issue(requested);
    const { turn, untilOver, ends } = await relaying(await chain.fundedWallet());
    await chain.control.setAutomine(false);
    expect(await turn(issued.orderId)).toMatchObject({ kind: 'waiting' });
    const [{ raw, txHash }] = (await findTransaction(database.db, `forward:${issued.authorizationId}`))!
      .versions as [SignedVersion];
    await chain.control.dropTransaction({ hash: txHash });
    await chain.control.setAutomine(true);
    const token = tokenByCode(chain.settings, 'USDC').address;
    const hoard = await chain.fundedWallet();
    const everything = await chain.balanceOf('USDC', partner.wallet.address);
    await chain.send(partner.wallet, tokenTransferCall({ token, to: hoard.address, amount: everything }));
    await chain.client.sendRawTransaction({ serializedTransaction: raw });
    expect(await chain.client.getTransactionReceipt({ hash: txHash })).toMatchObject({ status: 'reverted' });

    expect(await turn(issued.orderId)).toMatchObject({ kind: 'waiting' });
    expect(await statusOf(issued.orderId)).toMatchObject([{ status: 'authorized' }]);
    expect(ends).toEqual([]);
    expect(await codeOf(accept(second, await sign(partner, second)))).toBe('NONCE_ALREADY_USED');
    await chain.send(hoard, tokenTransferCall({ token, to: partner.wallet.address, amount: everything }));
    await executeFirst(issued, signed.signature);
    expect(await untilOver(issued.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'spent' } });
    expect(await chain.balanceOf('USDC', requested.recipient)).toBe(AMOUNT);
    expect(ends).toContainEqual({ orderId: issued.orderId, end: 'spent' });
  });

  // Proves trap 20, D7.6.
  test('that reverts stays valid: no second authorization before its deadline has passed for good', async () => {
    const partner = await newPartner();
    const requested = requestOf(partner);
    const issued = await issue(requested);
    await accept(issued, await sign(partner, issued));
    // Shown while the wallet could still pay; to be handed in while the first can still execute.
    const second = await issue(requested);
    expect(second.authorizationId).not.toBe(issued.authorizationId);
    const tryAgain = async () => codeOf(accept(second, await sign(partner, second)));
    const { wallet } = partner;
    const usdc = tokenByCode(chain.settings, 'USDC').address;
    const everything = 1_000_000_000n;
    const hoard = randomWallet();
    await chain.send(wallet, tokenTransferCall({ token: usdc, to: hoard.address, amount: everything }));
    const { turn, untilOver, ends } = await relaying();
    expect(await turn(issued.orderId)).toMatchObject({ kind: 'waiting' });
    expect(await tryAgain()).toBe('NONCE_ALREADY_USED');

    await chain.control.setNextBlockTimestamp({ timestamp: BigInt(issued.deadline) });
    await chain.control.mine({ blocks: 1 });
    expect(await turn(issued.orderId)).toMatchObject({ kind: 'waiting' });
    expect(await tryAgain()).toBe('NONCE_ALREADY_USED');
    expect(ends).toEqual([]);

    await chain.control.setNextBlockTimestamp({ timestamp: BigInt(issued.deadline) + 1n });
    await chain.control.mine({ blocks: 1 });
    expect(await untilOver(issued.orderId)).toMatchObject({ kind: 'confirmed', result: { end: 'lapsed' } });
    expect(ends).toEqual([{ orderId: issued.orderId, end: 'lapsed' }]);
    expect((await findSigned(database.db, issued.orderId, 'funding'))?.status).toBe('lapsed');

    await chain.control.setBalance({ address: hoard.address, value: 10n ** 18n });
    await chain.send(hoard, tokenTransferCall({ token: usdc, to: wallet.address, amount: everything }));
    const again = await issue(requested);
    expect(again.nonce).toBe(issued.nonce);
    expect(await codeOf(accept(again, await sign(partner, again)))).toBe('accepted');
    await untilOver(again.orderId);
    expect(await chain.balanceOf('USDC', requested.recipient)).toBe(AMOUNT);
  });
});

describe('a refund', () => {
  // Proves C4.6 row 7, D7.3.
  test('is signed as the Safe’s own transaction, by the seller only', async () => {
    const [seller, buyer] = [randomWallet(), randomWallet()];
    const parties = { service: service.address, seller: seller.address, buyer: buyer.address };
    const orderId = randomUUID();
    const escrow = describeEscrow(chain.settings, orderId, parties);
    const token = tokenByCode(chain.settings, 'USDC');
    const transaction = payoutTransaction(
      [{ token: token.address, to: seller.address, amount: AMOUNT }],
      chain.settings.contracts.multiSendCallOnly,
    );
    const parameters = payoutParameters(chain.settings, token, {
      orderId,
      purpose: 'refund',
      escrow,
      transaction,
      amount: AMOUNT,
      signer: 'seller',
    });
    expect(Value.Check(RefundAuthorizationParametersSchema, parameters)).toBe(true);
    expect(parameters).toMatchObject({
      signer_address: seller.address,
      recipient_address: seller.address,
      amount_human: '12.345678',
    });
    const signWith = ({ privateKey }: TestWallet) =>
      privateKeyToAccount(privateKey).signTypedData(parameters.typed_data as never);
    const accept = (signature: string) =>
      acceptOwnerSignature(escrow, hashSafeTransaction(escrow, transaction), ['seller'], signature);
    expect(await accept(await signWith(seller))).toEqual({
      signer: seller.address,
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    });
    for (const wrong of [buyer, randomWallet()]) {
      await expect(accept(await signWith(wrong))).rejects.toMatchObject({
        code: 'ESCROW_SIGNER_MISMATCH',
        status: 502,
        details: { expected_signer: seller.address, recovered_signer: wrong.address },
      });
    }
    for (const malformed of ['0x', 'hello', '', `0x${'f'.repeat(130)}`, `0x${'0'.repeat(130)}`]) {
      await expect(accept(malformed)).rejects.toMatchObject({
        code: 'INVALID_SIGNATURE',
        status: 400,
        details: { expected_signer: seller.address, recovered_signer: null },
      });
    }
  });
});
