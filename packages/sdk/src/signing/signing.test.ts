import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { payoutParameters } from '../../../../apps/gateway/src/chain/authorization/accept-authorization.ts';
import {
  type Authorization,
  bridgeParameters,
  transferParameters,
} from '../../../../apps/gateway/src/chain/authorization/authorization.ts';
import {
  depositToBridgeData,
  fundEscrowData,
} from '../../../../apps/gateway/src/chain/authorization/forward-request.ts';
import {
  KEYLESS_FACTORY,
  planForwarder,
  planRouter,
  planSafe,
  SAFE_FACTORY,
} from '../../../../apps/gateway/src/chain/contracts/contract-plan.ts';
import {
  customerRelease,
  describeEscrow,
  offrampRelease,
  onrampRelease,
  refund,
} from '../../../../apps/gateway/src/chain/escrow/escrow.ts';
import { payoutTransaction } from '../../../../apps/gateway/src/chain/escrow/safe-transaction.ts';
import { canonicalSignature } from '../../../../apps/gateway/src/chain/signers/signature.ts';
import { checksumAddress, toAtomic } from './bytes.ts';
import {
  type BridgeToSign,
  CANONICAL_CONTRACTS,
  decodeTransaction,
  decodeTypedData,
  eip1193Signer,
  escrowAddress,
  ethersSigner,
  hashTypedData,
  kmsSigner,
  type OrderToSign,
  type PayoutToSign,
  privateKeySigner,
  reviewBridge,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  reviewVendorFunding,
  reviewVendorRefund,
  reviewVendorRelease,
  type Signer,
  SigningRefusedError,
  signBridge,
  signRefund,
  signRelease,
  signTransfer,
  signVendorRefund,
  signVendorRelease,
  type TransferToSign,
  type Trust,
  type VendorPayoutToSign,
  viemSigner,
} from './index.ts';

type Hex = `0x${string}`;
const KEY: Hex = `0x${'5a'.repeat(32)}`;
const account = privateKeyToAccount(KEY);
const address = (digit: string) => checksumAddress(`0x${digit.repeat(40)}`);
const ORDER_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const NOW = 1_790_000_000;
const CHAIN_ID = 31_337;
const contracts = CANONICAL_CONTRACTS;
const settings = { chainId: CHAIN_ID, contracts, publicRpcUrl: 'http://node.example' };
const usdc = { code: 'USDC', address: address('c'), decimals: 6 };
const [service, vendor, treasury, solver] = [address('1'), address('2'), address('3'), address('4')] as [
  Hex,
  Hex,
  Hex,
  Hex,
];
const wallet = account.address;

const trust: Trust = {
  chainId: CHAIN_ID,
  contracts,
  wallet,
  service,
  treasury,
  tokens: { USDC: usdc },
  bridgeSolvers: [solver],
};
/** 1 % of 100 for the partner, 0.5 % for the platform. */
const order = (order_type: string): OrderToSign => ({
  order_id: ORDER_ID,
  order_type,
  amounts: {
    crypto_amount: '100.000001',
    fiat_amount: '92.40',
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    rate: '0.92',
  },
  fee_breakdown: {
    platform_fee: '0.500000',
    platform_fee_pct: 0.5,
    partner_fee: '1.000000',
    partner_fee_pct: 1,
    total_fee: '1.500000',
  },
});
const figures = { cryptoAmount: 100_000_001n, platformFee: 500_000n, partnerFee: 1_000_000n };
const offrampOwners = { service, seller: wallet, buyer: vendor };
const onrampOwners = { service, seller: vendor, buyer: wallet };

function authorization(
  data: Hex,
  amount: bigint,
  recipient: Hex,
  bridge: Authorization['bridge'],
): Authorization {
  return {
    ...{
      authorizationId: 'a',
      orderId: ORDER_ID,
      partnerId: 'p',
      purpose: bridge === null ? 'funding' : 'bridge',
    },
    ...{
      chainId: CHAIN_ID,
      forwarder: contracts.forwarder,
      sender: wallet,
      nonce: 7n,
      router: contracts.router,
    },
    ...{ gas: 300_000n, deadline: NOW + 600, data, token: usdc.address, amount, recipient, bridge },
    ...{ status: 'issued' as never, signature: null, txHash: null, depositTxHash: null, depositedAt: null },
    issuedAt: new Date(NOW * 1_000),
    expiresAt: new Date((NOW + 600) * 1_000),
  };
}

/** What the gateway's own code answers for these orders. */
function transfer(): TransferToSign {
  const escrow = describeEscrow(settings, ORDER_ID, offrampOwners).address;
  const amount = figures.cryptoAmount + figures.partnerFee;
  const data = fundEscrowData({ orderId: ORDER_ID, token: usdc.address, escrow, amount });
  const parameters = transferParameters(settings, usdc, authorization(data, amount, escrow, null));
  return { order: order('offramp'), parameters, owners: offrampOwners, trust, now: NOW, nonce: 7n };
}
const destination = { destination_chain: 'arbitrum-one', destination_address: address('d') };
function bridge(): BridgeToSign {
  const quoteId: Hex = `0x${'ab'.repeat(32)}`;
  const amount = figures.cryptoAmount - figures.platformFee - figures.partnerFee;
  const data = depositToBridgeData({ bridgeQuoteId: quoteId, token: usdc.address, solver, amount });
  const leg = {
    quoteId,
    toAmount: '98000000',
    destinationChain: 'arbitrum-one',
    destinationAddress: address('d') as Hex,
  };
  const parameters = bridgeParameters(settings, usdc, authorization(data, amount, solver, leg));
  return {
    order: order('onramp'),
    parameters,
    destination,
    trust,
    now: NOW,
    nonce: '7',
    minimumToAmount: '97000000',
  };
}
function payout(purpose: 'refund' | 'release'): PayoutToSign {
  const owners = purpose === 'refund' ? offrampOwners : onrampOwners;
  const escrow = describeEscrow(settings, ORDER_ID, owners);
  const deposit = figures.cryptoAmount + figures.partnerFee;
  const transfers =
    purpose === 'refund'
      ? refund({ token: usdc.address, deposit, seller: wallet })
      : onrampRelease({ token: usdc.address, ...figures, treasury, partnerWallet: wallet });
  const parameters = payoutParameters(settings, usdc, {
    orderId: ORDER_ID,
    purpose,
    escrow,
    transaction: payoutTransaction(transfers, contracts.multiSendCallOnly),
    amount: purpose === 'refund' ? deposit : figures.cryptoAmount - figures.platformFee,
    signer: purpose === 'refund' ? 'seller' : 'buyer',
  });
  return { order: order(purpose === 'refund' ? 'offramp' : 'onramp'), parameters, owners, trust, now: NOW };
}

function reasonOf(work: () => unknown): string {
  try {
    work();
    return 'signed';
  } catch (error) {
    if (error instanceof SigningRefusedError) return error.reason;
    throw error;
  }
}

/** Every leaf of the answer with another value that is of the same kind. */
function alterations(value: unknown, path: readonly string[] = []): { path: string; altered: unknown }[] {
  if (Array.isArray(value))
    return [...value.entries()].flatMap(([at, one]) => inside(value, String(at), one, path));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, one]) => inside(value, key, one, path));
  }
  return [{ path: path.join('.'), altered: another(value) }];
}
function inside(parent: object, key: string, one: unknown, path: readonly string[]) {
  return alterations(one, [...path, key]).map(({ path: at, altered }) => ({
    path: at,
    altered: Object.assign(Array.isArray(parent) ? [...parent] : { ...parent }, { [key]: altered }),
  }));
}
function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return 'other';
  if (/^0x[0-9a-f]{40}$/i.test(value)) return address('e');
  // One bit of the last byte: the smallest change there is.
  if (/^0x/.test(value)) return value.slice(0, -1) + (value.endsWith('1') ? '2' : '1');
  if (/^\d+$/.test(value)) return `${BigInt(value) + 1n}`;
  if (/^[0-9a-f-]{36}$/.test(value)) return value.replace(/.$/, '0');
  return `${value}x`;
}

/** They say how to go on; nothing of it is signed. */
const NOT_SIGNED = /^(rpc_url|recommended_ttl|expires_at|authorization_path)$/;

describe('what is signed', () => {
  const cases = {
    transfer: { request: transfer(), review: () => reviewTransfer(transfer()) },
    bridge: { request: bridge(), review: () => reviewBridge(bridge()) },
    refund: { request: payout('refund'), review: () => reviewRefund(payout('refund')) },
    release: { request: payout('release'), review: () => reviewRelease(payout('release')) },
  };

  it('has the hash that the gateway computes, and a signature that it accepts', async () => {
    const signer = privateKeySigner(KEY);
    expect(signer.address).toBe(wallet);
    const bodies = [
      (await signTransfer(transfer(), signer)).signature,
      (await signBridge(bridge(), signer)).signature,
      (await signRefund(payout('refund'), signer)).signature,
      (await signRelease(payout('release'), signer)).signature,
    ];
    for (const [at, { request, review }] of Object.values(cases).entries()) {
      const { typedData } = review();
      const { parameters } = request;
      const signature = await account.signTypedData(
        'typed_data' in parameters
          ? (parameters.typed_data as never)
          : ({
              domain: parameters.eip712_domain,
              types: parameters.types,
              primaryType: parameters.primary_type,
              message: parameters.forward_request,
            } as never),
      );
      expect(canonicalSignature(bodies[at] as Hex)).toBe(signature);
      if ('safe_tx_hash' in parameters) expect(hashTypedData(typedData)).toBe(parameters.safe_tx_hash);
    }
    expect(await signTransfer(transfer(), signer)).toMatchObject({
      forward_request: transfer().parameters.forward_request,
    });
    expect(await signBridge(bridge(), signer)).toMatchObject(destination);
  });

  it('is refused with each field of the answer altered in turn', () => {
    const reviews = {
      transfer: reviewTransfer,
      bridge: reviewBridge,
      refund: reviewRefund,
      release: reviewRelease,
    };
    let tried = 0;
    for (const [name, { request }] of Object.entries(cases)) {
      const review = reviews[name as keyof typeof reviews] as (given: unknown) => unknown;
      expect(
        reasonOf(() => review(request)),
        name,
      ).toBe('signed');
      for (const { path, altered } of alterations(request.parameters)) {
        if (NOT_SIGNED.test(path)) continue;
        tried += 1;
        // The bridge's own estimate has a floor and the deadline has bounds (below); every other number is exact.
        const isBounded = /^(to_amount|forward_request\.deadline)$/.test(path);
        const reason = reasonOf(() => review({ ...request, parameters: altered }));
        expect(reason === 'signed', `${name} ${path}: ${reason}`).toBe(isBounded);
      }
    }
    expect(tried).toBeGreaterThan(100);
  });

  it('is refused with each expectation altered in turn, under its own name', () => {
    const at = (change: object, more: object = {}) => ({
      ...transfer(),
      trust: { ...trust, ...change },
      ...more,
    });
    const other = address('f');
    const swapped = (name: string) => ({ contracts: { ...contracts, [name]: other } });
    const amounts = (change: object) => ({
      order: { ...order('offramp'), amounts: { ...order('offramp').amounts, ...change } },
    });
    const fees = (change: object) => ({
      order: { ...order('offramp'), fee_breakdown: { ...order('offramp').fee_breakdown, ...change } },
    });
    const token = (change: object) => ({ tokens: { USDC: { ...usdc, ...change } } });
    const parameters = (change: object, request: object = {}) => ({
      parameters: {
        ...transfer().parameters,
        ...change,
        forward_request: { ...transfer().parameters.forward_request, ...request },
      },
    });
    const table: [string, object][] = [
      ['CHAIN_MISMATCH', at({ chainId: 1 })],
      ['FORWARDER_MISMATCH', at(swapped('forwarder'))],
      ['ROUTER_MISMATCH', at(swapped('router'))],
      ['ESCROW_MISMATCH', at(swapped('safeSingleton'))],
      ['ESCROW_MISMATCH', at(swapped('safeProxyFactory'))],
      ['ESCROW_MISMATCH', at(swapped('fallbackHandler'))],
      ['OWNER_MISMATCH', at({ wallet: other })],
      ['OWNER_MISMATCH', at({ service: other })],
      ['OWNER_MISMATCH', at({}, { owners: { ...offrampOwners, buyer: service } })],
      ['OWNER_MISMATCH', at({}, { owners: onrampOwners })],
      ['ESCROW_MISMATCH', at({}, { owners: { ...offrampOwners, buyer: other } })],
      ['TOKEN_MISMATCH', at(token({ address: other }))],
      ['TOKEN_MISMATCH', at(token({ decimals: 18 }))],
      ['EXPECTATION_MISSING', at({ tokens: {} })],
      [
        'ORDER_MISMATCH',
        at({}, { order: { ...order('offramp'), order_id: ORDER_ID.replace('0189', '0190') } }),
      ],
      ['ORDER_MISMATCH', at({}, { order: order('onramp') })],
      ['AMOUNT_MISMATCH', at({}, amounts({ crypto_amount: '100.000002' }))],
      ['AMOUNT_MISMATCH', at({}, amounts({ crypto_amount: '100.0000011' }))],
      ['AMOUNT_MISMATCH', at({}, amounts({ crypto_amount: '-1' }))],
      ['FEE_MISMATCH', at({}, fees({ partner_fee: '1.000002', total_fee: '1.500002' }))],
      ['FEE_MISMATCH', at({}, fees({ platform_fee: '0.500001', total_fee: '1.500001' }))],
      ['FEE_MISMATCH', at({}, fees({ total_fee: '1.500001' }))],
      ['FEE_MISMATCH', at({}, fees({ partner_fee_pct: 1.1 }))],
      ['NONCE_MISMATCH', at({}, { nonce: 8n })],
      ['NONCE_MISMATCH', at({}, parameters({ forwarder_nonce: '8' }, { nonce: '8' }))],
      ['DEADLINE_PASSED', at({}, { now: NOW + 600 })],
      ['DEADLINE_TOO_FAR', at({}, { maxTtlSeconds: 599 })],
      ['DEADLINE_TOO_FAR', at({}, { now: NOW - 3_001 })],
      ['GAS_TOO_HIGH', at({}, parameters({ recommended_gas: '1000001' }, { gas: '1000001' }))],
      ['TYPED_DATA_MISMATCH', at({}, parameters({}, { gas: '0x1' }))],
      ['VALUE_NOT_ZERO', at({}, parameters({}, { value: '1' }))],
      ['SIGNER_MISMATCH', at({}, parameters({}, { from: other }))],
      [
        'TYPED_DATA_MISMATCH',
        at({}, parameters({ eip712_domain: { ...transfer().parameters.eip712_domain, salt: '0x' } })),
      ],
    ];
    for (const [reason, request] of table) {
      expect(
        reasonOf(() => reviewTransfer(request as TransferToSign)),
        JSON.stringify(request, bigText),
      ).toBe(reason);
    }
  });

  it.each(['now', 'maxTtlSeconds'])('%s that is no number lets no deadline pass', (name) => {
    const request = { ...transfer(), [name]: Number.NaN };
    expect(() => reviewTransfer(request)).toThrow(`${name} is a number`);
  });

  it('pays you: refund, release and send-out to another are refused', () => {
    const of = (request: object, change: object) => ({ ...request, trust: { ...trust, ...change } });
    const other = address('f');
    expect(reasonOf(() => reviewRefund(of(payout('refund'), { wallet: other }) as never))).toBe(
      'RECIPIENT_MISMATCH',
    );
    expect(reasonOf(() => reviewRelease(of(payout('release'), { treasury: other }) as never))).toBe(
      'CALLDATA_MISMATCH',
    );
    expect(reasonOf(() => reviewRelease(of(payout('release'), { treasury: undefined }) as never))).toBe(
      'EXPECTATION_MISSING',
    );
    const delegate = { contracts: { ...contracts, multiSendCallOnly: other } };
    expect(reasonOf(() => reviewRelease(of(payout('release'), delegate) as never))).toBe(
      'TYPED_DATA_MISMATCH',
    );
    expect(reasonOf(() => reviewRelease(payout('refund')))).toBe('ORDER_MISMATCH');
    expect(reasonOf(() => reviewBridge({ ...bridge(), order: order('offramp') }))).toBe('ORDER_MISMATCH');
    expect(reasonOf(() => reviewRefund(payout('release')))).toBe('ORDER_MISMATCH');
    expect(reasonOf(() => reviewRefund({ ...payout('refund'), shortfall: '0.5' }))).toBe('AMOUNT_MISMATCH');
    expect(reasonOf(() => reviewBridge(of(bridge(), { bridgeSolvers: [other] }) as never))).toBe(
      'SOLVER_NOT_TRUSTED',
    );
    expect(reasonOf(() => reviewBridge(of(bridge(), { bridgeSolvers: undefined }) as never))).toBe(
      'EXPECTATION_MISSING',
    );
    expect(reasonOf(() => reviewBridge(of(bridge(), { bridgeSolvers: 'any' }) as never))).toBe('signed');
    expect(reasonOf(() => reviewBridge({ ...bridge(), minimumToAmount: '98000001' }))).toBe(
      'AMOUNT_MISMATCH',
    );
    for (const change of [{ destination_chain: 'base-mainnet' }, { destination_address: other }]) {
      expect(reasonOf(() => reviewBridge({ ...bridge(), destination: { ...destination, ...change } }))).toBe(
        'DESTINATION_MISMATCH',
      );
    }
  });
});

/** What the gateway's own code asks of a vendor, whose wallet is ours here. */
function asked(
  purpose: 'refund' | 'release',
  direction: 'onramp' | 'offramp',
  partner: Hex | null = null,
): VendorPayoutToSign {
  const owners = direction === 'onramp' ? offrampOwners : onrampOwners;
  const escrow = describeEscrow(settings, ORDER_ID, owners);
  const deposit = figures.cryptoAmount + (direction === 'onramp' ? 0n : figures.partnerFee);
  const token = usdc.address;
  const paid = { token, ...figures, treasury };
  const release =
    direction === 'offramp'
      ? offrampRelease({ ...paid, partnerWallet: partner ?? owners.seller, buyer: owners.buyer })
      : partner === null
        ? onrampRelease({ ...paid, partnerWallet: owners.buyer })
        : customerRelease({ ...paid, partnerWallet: partner, buyer: owners.buyer });
  const transfers = purpose === 'refund' ? refund({ token, deposit, seller: owners.seller }) : release;
  const transaction = payoutTransaction(transfers, contracts.multiSendCallOnly);
  const { typed_data, safe_tx_hash, escrow_address } = payoutParameters(settings, usdc, {
    ...{ orderId: ORDER_ID, purpose, escrow, transaction, amount: deposit, signer: 'seller' },
  });
  const parameters = { order_id: ORDER_ID, purpose, escrow_address, safe_tx_hash, typed_data };
  const funding = {
    ...{ chain: 'x', chain_id: CHAIN_ID, token_address: token, escrow_address, from_address: owners.seller },
    ...{ owners, amount: '', amount_atomic: `${deposit}`, confirmations: 2, state: 'awaited', deposits: [] },
  };
  const amounts = { crypto_currency: 'USDC', crypto_amount: '100.000001', platform_fee: '0.500000' };
  return {
    order: { order_id: ORDER_ID, direction, ...amounts, funding } as VendorPayoutToSign['order'],
    parameters: { ...parameters, chain: 'x', owners, partner_address: partner },
    trust,
  };
}

describe('what a vendor signs and pays', () => {
  const ways = [
    ['refund', 'onramp', null],
    ['refund', 'offramp', null],
    ['release', 'onramp', null],
    ['release', 'onramp', address('5')],
    ['release', 'offramp', null],
    ['release', 'offramp', address('5')],
  ] as [purpose: 'refund' | 'release', direction: 'onramp' | 'offramp', partner: Hex | null][];
  const reviewOf = (purpose: 'refund' | 'release') =>
    purpose === 'refund' ? reviewVendorRefund : reviewVendorRelease;

  it.each(ways)('%s, %s: it has the hash of the gateway, and reads back in words', async (...way) => {
    const request = asked(...way);
    const { typedData, digest } = reviewOf(way[0])(request);
    expect(digest).toBe(request.parameters.safe_tx_hash);
    const { call, from, hashes } = decodeTypedData(typedData);
    expect(hashes.digest).toBe(digest);
    expect(from).toBe(request.parameters.escrow_address);
    const total =
      call.kind === 'transfers' ? call.transfers.reduce((sum, { amount }) => sum + amount, 0n) : 0n;
    expect(`${total}`).toBe(request.order.funding?.amount_atomic);
    const signer = privateKeySigner(KEY);
    const signature = await account.signTypedData(request.parameters.typed_data as never);
    expect(
      way[0] === 'refund'
        ? (await signVendorRefund(request, signer)).refund_signature
        : (await signVendorRelease(request, signer)).release_signature,
    ).toBe(signature);
  });

  it.each(ways)('%s, %s: each field of the answer altered in turn is refused', (...way) => {
    const request = asked(...way);
    for (const { path, altered } of alterations(request.parameters)) {
      // Named for programs; nothing of it is signed.
      if (path === 'chain') continue;
      // Where nothing is paid to a partner, its address is not used.
      const paysPartner = way[0] === 'release' && (way[1] === 'offramp' || way[2] !== null);
      if (path === 'partner_address' && !paysPartner) continue;
      const parameters = altered as VendorPayoutToSign['parameters'];
      const reason = reasonOf(() => reviewOf(way[0])({ ...request, parameters }));
      expect(reason, path).not.toBe('signed');
    }
  });

  it('pays nobody else, and not more in fees than the order says', () => {
    const onramp = asked('release', 'onramp');
    const other = { ...onramp.order, platform_fee: '0.400000' };
    expect(reasonOf(() => reviewVendorRelease({ ...onramp, order: other }))).toBe('CALLDATA_MISMATCH');
    const offramp = asked('release', 'offramp');
    const less = { ...offramp.order, platform_fee: '0.400000' };
    expect(reasonOf(() => reviewVendorRelease({ ...offramp, order: less }))).toBe('FEE_MISMATCH');
    const more = { ...offramp.order, crypto_amount: '101.000001' };
    expect(reasonOf(() => reviewVendorRelease({ ...offramp, order: more }))).toBe('CALLDATA_MISMATCH');
    const elsewhere = { ...trust, treasury: address('f') };
    expect(reasonOf(() => reviewVendorRelease({ ...onramp, trust: elsewhere }))).toBe('CALLDATA_MISMATCH');
    const swapped = asked('refund', 'onramp');
    expect(reasonOf(() => reviewVendorRelease(swapped))).toBe('ORDER_MISMATCH');
  });

  it('funds exactly the order’s escrow, and no other', () => {
    const { order } = asked('refund', 'onramp');
    const { transaction, transfer } = reviewVendorFunding({ order, trust });
    expect(transfer).toEqual({
      token: usdc.address,
      to: order.funding?.escrow_address,
      amount: 100_000_001n,
    });
    expect(decodeTransaction(transaction)).toEqual({ kind: 'transfers', transfers: [transfer] });
    for (const { path, altered } of alterations(order.funding)) {
      if (/^(chain|amount|confirmations|state)$/.test(path)) continue;
      const changed = { ...order, funding: altered as typeof order.funding };
      expect(
        reasonOf(() => reviewVendorFunding({ order: changed, trust })),
        path,
      ).not.toBe('signed');
    }
    expect(reasonOf(() => decodeTransaction({ ...transaction, value: '0x1' }))).toBe('VALUE_NOT_ZERO');
    expect(reasonOf(() => decodeTransaction({ ...transaction, data: '0x12345678' }))).toBe(
      'CALLDATA_MISMATCH',
    );
  });
});

describe('what is read back', () => {
  it('is what was encoded: escrow, send-out, payout; anything else is refused', () => {
    expect(decodeTypedData(reviewTransfer(transfer()).typedData).call).toMatchObject({
      ...{ kind: 'fund-escrow', orderId: ORDER_ID, amount: 101_000_001n },
    });
    expect(decodeTypedData(reviewBridge(bridge()).typedData).call).toMatchObject({
      ...{ kind: 'deposit-to-bridge', solver, amount: 98_500_001n },
    });
    const { typedData } = reviewRelease(payout('release'));
    expect(decodeTypedData(typedData)).toMatchObject({ multiSend: contracts.multiSendCallOnly });
    const altered = (change: object) => ({ ...typedData, message: { ...typedData.message, ...change } });
    for (const change of [
      { data: `${typedData.message.data}00` },
      { data: String(typedData.message.data).replace(/^0x.{8}/, '0xdeadbeef') },
      { operation: 2 },
      { operation: 0 },
      { nonce: '1' },
      { gasToken: address('e') },
    ]) {
      expect(
        reasonOf(() => decodeTypedData(altered(change))),
        JSON.stringify(change),
      ).not.toBe('signed');
    }
  });
});

describe('escrows', () => {
  it('are where the gateway and the chain put them, on public chains at the addresses of this build', () => {
    for (const owners of [offrampOwners, onrampOwners]) {
      expect(escrowAddress(contracts, ORDER_ID, owners)).toBe(
        describeEscrow(settings, ORDER_ID, owners).address,
      );
    }
    const forwarder = planForwarder(KEYLESS_FACTORY).address;
    expect(CANONICAL_CONTRACTS).toEqual({
      forwarder,
      router: planRouter(KEYLESS_FACTORY, forwarder).address,
      safeSingleton: planSafe('safeSingleton', SAFE_FACTORY).address,
      safeProxyFactory: planSafe('safeProxyFactory', SAFE_FACTORY).address,
      fallbackHandler: planSafe('fallbackHandler', SAFE_FACTORY).address,
      multiSendCallOnly: planSafe('multiSendCallOnly', SAFE_FACTORY).address,
    });
  });

  it('amounts are read exactly, or not at all', () => {
    expect(['1', '0.000001', '12.3000000', '0'].map((text) => toAtomic(text, 6))).toEqual([
      1_000_000n,
      1n,
      12_300_000n,
      0n,
    ]);
    expect(
      ['', '1.0000001', '1e3', '-1', '+1', '.5', '1.', ' 1', 5].map((text) => toAtomic(text, 6)),
    ).toEqual(Array(9).fill(undefined));
  });
});

describe('signers', () => {
  const signed = () => signTransfer(transfer(), privateKeySigner(KEY)).then(({ signature }) => signature);
  const typed = (domain: object, types: object, message: object) =>
    account.signTypedData({ domain, types, primaryType: 'ForwardRequest', message } as never);

  it('of every kind make the same signature', async () => {
    const ethers6 = { getAddress: async () => wallet, signTypedData: typed };
    const ethers5 = { getAddress: async () => wallet.toLowerCase(), _signTypedData: typed };
    const provider = {
      async request({ method, params }: { method: string; params: [string, string] }) {
        const { types, domain, primaryType, message } = JSON.parse(params[1]);
        expect([method, params[0], primaryType]).toEqual(['eth_signTypedData_v4', wallet, 'ForwardRequest']);
        expect(types.EIP712Domain.map(({ name }: { name: string }) => name)).toEqual([
          'name',
          'version',
          'chainId',
          'verifyingContract',
        ]);
        return typed(domain, { ForwardRequest: types.ForwardRequest }, message);
      },
    };
    const digestSigner = (form: (compact: Uint8Array) => Uint8Array) =>
      kmsSigner(wallet, async (digest) => {
        const signature = await account.sign({ hash: `0x${Buffer.from(digest).toString('hex')}` });
        return form(Buffer.from(signature.slice(2), 'hex').subarray(0, 64));
      });
    const signers: Signer[] = [
      viemSigner(account),
      await ethersSigner(ethers6),
      await ethersSigner(ethers5),
      eip1193Signer(provider, wallet),
      digestSigner((compact) => compact),
      digestSigner(derOf),
      digestSigner((compact) => derOf(mirrored(compact))),
    ];
    for (const signer of signers)
      expect((await signTransfer(transfer(), signer)).signature).toBe(await signed());
  });

  it('that sign with another key, or something else, are found out before anything is sent', async () => {
    const stranger = privateKeyToAccount(`0x${'77'.repeat(32)}`);
    const refusal = (signer: Signer) =>
      signTransfer(transfer(), signer).then(
        () => 'signed',
        (error) => error.reason,
      );
    expect(await refusal(viemSigner(stranger))).toBe('SIGNER_MISMATCH');
    const pretends = { address: wallet, signTypedData: stranger.signTypedData };
    expect(await refusal(viemSigner(pretends))).toBe('SIGNATURE_MISMATCH');
    for (const bytes of [new Uint8Array(65), new Uint8Array(10), Uint8Array.of(0x30, 1, 2)]) {
      expect(await refusal(kmsSigner(wallet, async () => bytes))).toBe('SIGNATURE_MISMATCH');
    }
    expect(() => privateKeySigner(`0x${'00'.repeat(32)}`)).toThrow(/32 bytes/);
    expect(() => privateKeySigner('secret')).toThrow(TypeError);
    await expect(ethersSigner({ getAddress: async () => wallet })).rejects.toThrow(/cannot sign/);
    expect(() => eip1193Signer({ request: async () => '' }, 'me')).toThrow(/20 bytes/);
  });
});

/** As a key service writes a signature: two integers without a sign, so that a high bit gets a zero before it. */
function derOf(compact: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const short = bytes.subarray(start);
    const signedBytes = (short[0] ?? 0) >= 0x80 ? [0, ...short] : [...short];
    return [2, signedBytes.length, ...signedBytes];
  };
  const body = [...integer(compact.subarray(0, 32)), ...integer(compact.subarray(32))];
  return Uint8Array.from([0x30, body.length, ...body]);
}

function mirrored(compact: Uint8Array): Uint8Array {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = BigInt(`0x${Buffer.from(compact.subarray(32)).toString('hex')}`);
  const high = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
  return Uint8Array.from([...compact.subarray(0, 32), ...high]);
}

function bigText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}
