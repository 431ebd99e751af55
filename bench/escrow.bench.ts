import { randomUUID } from 'node:crypto';
import {
  forwardCall,
  fundEscrowData,
  hashForwardRequest,
  routerRequest,
} from '../apps/gateway/src/chain/authorization/forward-request.ts';
import {
  type ContractCall,
  type TokenTransfer,
  tokenByCode,
} from '../apps/gateway/src/chain/chain-settings.ts';
import { approveRouter } from '../apps/gateway/src/chain/contracts/local-deployment.ts';
import {
  describeEscrow,
  type Escrow,
  offrampRelease,
  onrampRelease,
  refund,
} from '../apps/gateway/src/chain/escrow/escrow.ts';
import { readExecution } from '../apps/gateway/src/chain/escrow/escrow-execution.ts';
import {
  batchCall,
  executionCall,
  hashSafeTransaction,
  packSignatures,
  payoutTransaction,
} from '../apps/gateway/src/chain/escrow/safe-transaction.ts';
import {
  startTestChain,
  type TestChain,
  type TestWallet,
} from '../apps/gateway/src/chain/testing/local-chain.ts';
import { tokenTransferCall } from '../apps/gateway/src/chain/token-reads.ts';
import { figure } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { median } from './frame/statistics.ts';

/**
 * What an escrow costs from its payment to its end: the table of docs/guides/chain.md. Gas is the chain's own count and the same on every
 * machine, but for the zero bytes in random addresses and signatures; times are those of a local chain.
 */
const CHAIN_ID = 31_477;
const LIFECYCLES = 9;
const CODES = ['USDC', 'USDT'] as const;
// Odd on purpose, as real amounts are: round ones have more zero bytes, which cost less.
const CRYPTO_AMOUNT = 10_203_047n;
const PLATFORM_FEE = 51_019n;
const PARTNER_FEE = 102_031n;

const STEPS = [
  'on-ramp funding',
  'on-ramp release',
  'off-ramp funding',
  'off-ramp release',
  'refund',
] as const;
type Step = (typeof STEPS)[number];
type Code = (typeof CODES)[number];

interface Cost {
  readonly gas: number;
  readonly ms: number;
}
type Lifecycle = Readonly<Record<Step, Cost>>;

interface Stage {
  readonly chain: TestChain;
  readonly service: TestWallet;
  readonly partner: TestWallet;
  readonly vendor: TestWallet;
  nextNonce: bigint;
}

export async function run(report: BenchReport): Promise<void> {
  const chain = await startTestChain(CHAIN_ID);
  try {
    const [service, partner, vendor] = [
      await chain.fundedWallet(),
      await chain.fundedWallet(),
      await chain.fundedWallet(),
    ];
    const { rpcUrl, contracts, tokens } = chain.settings;
    await approveRouter(rpcUrl, partner.privateKey, contracts.router, tokens);
    const stage: Stage = { chain, service, partner, vendor, nextNonce: 0n };
    for (const code of CODES) await measureToken(report, stage, code);
  } finally {
    await chain.stop();
  }
}

async function measureToken(report: BenchReport, stage: Stage, code: Code): Promise<void> {
  // The treasury holds none of the token yet.
  const first = await runLifecycle(stage, code);
  const lifecycles: Lifecycle[] = [];
  for (let count = 0; count < LIFECYCLES; count += 1) lifecycles.push(await runLifecycle(stage, code));
  const gasOf = (step: Step) => median(lifecycles.map((lifecycle) => lifecycle[step].gas));
  const add = (name: string, value: number, unit: 'gas' | 'ms') =>
    report.add(
      figure({ name: `${code}: ${name}`, value, unit, better: 'lower', details: { lifecycles: LIFECYCLES } }),
    );

  for (const step of STEPS) add(step, gasOf(step), 'gas');
  add('whole lifecycle on-ramp', gasOf('on-ramp funding') + gasOf('on-ramp release'), 'gas');
  add('whole lifecycle off-ramp', gasOf('off-ramp funding') + gasOf('off-ramp release'), 'gas');
  add('more for a first holder of the token', first['on-ramp release'].gas - gasOf('on-ramp release'), 'gas');
  for (const step of STEPS)
    add(`${step}, time`, median(lifecycles.map((lifecycle) => lifecycle[step].ms)), 'ms');
}

/** One escrow of each kind, from its payment to its end. */
async function runLifecycle(stage: Stage, code: Code): Promise<Lifecycle> {
  const { chain, service, partner, vendor } = stage;
  const token = tokenByCode(chain.settings, code).address;
  const figures = {
    token,
    cryptoAmount: CRYPTO_AMOUNT,
    platformFee: PLATFORM_FEE,
    treasury: chain.settings.treasury,
    partnerWallet: partner.address,
  };
  const deposit = CRYPTO_AMOUNT + PARTNER_FEE;
  const [onramp, offramp, returned] = [randomUUID(), randomUUID(), randomUUID()];
  const bought = escrowOf(stage, onramp, vendor, partner);
  const sold = escrowOf(stage, offramp, partner, vendor);
  const givenBack = escrowOf(stage, returned, partner, vendor);

  const onrampFunding = await cost(chain, vendor, async () =>
    tokenTransferCall({ token, to: bought.address, amount: CRYPTO_AMOUNT }),
  );
  const onrampPayout = await payOut(stage, bought, onrampRelease(figures), [service, vendor]);
  const offrampFunding = await fundByRequest(stage, code, offramp, sold, deposit);
  const payouts = offrampRelease({ ...figures, partnerFee: PARTNER_FEE, buyer: vendor.address });
  const offrampPayout = await payOut(stage, sold, payouts, [service, vendor]);
  await fundByRequest(stage, code, returned, givenBack, deposit);
  const back = refund({ token, deposit, seller: partner.address });
  return {
    'on-ramp funding': onrampFunding,
    'on-ramp release': onrampPayout,
    'off-ramp funding': offrampFunding,
    'off-ramp release': offrampPayout,
    refund: await payOut(stage, givenBack, back, [service, partner]),
  };
}

function escrowOf({ chain, service }: Stage, orderId: string, seller: TestWallet, buyer: TestWallet): Escrow {
  return describeEscrow(chain.settings, orderId, {
    service: service.address,
    seller: seller.address,
    buyer: buyer.address,
  });
}

async function fundByRequest(
  stage: Stage,
  code: Code,
  orderId: string,
  escrow: Escrow,
  amount: bigint,
): Promise<Cost> {
  const { settings, client } = stage.chain;
  const { timestamp } = await client.getBlock();
  const token = tokenByCode(settings, code).address;
  const request = routerRequest(settings, {
    from: stage.partner.address,
    nonce: stage.nextNonce,
    deadline: Number(timestamp) + 600,
    gas: 300_000n,
    data: fundEscrowData({ orderId, token, escrow: escrow.address, amount }),
  });
  stage.nextNonce += 1n;
  return cost(stage.chain, stage.service, async () => {
    const signature = await stage.partner.signDigest(hashForwardRequest(settings, request));
    return forwardCall(settings, request, signature);
  });
}

/** Deploys the escrow and empties it, in the one transaction that the service sends. */
async function payOut(
  { chain, service }: Stage,
  escrow: Escrow,
  transfers: TokenTransfer[],
  signers: readonly TestWallet[],
): Promise<Cost> {
  const { multiSendCallOnly } = chain.settings.contracts;
  const transaction = payoutTransaction(transfers, multiSendCallOnly);
  const safeTxHash = hashSafeTransaction(escrow, transaction);
  const expected = { escrow: escrow.address, safeTxHash, transfers };
  return cost(
    chain,
    service,
    async () => {
      const signed = await Promise.all(signers.map((signer) => signer.signDigest(safeTxHash)));
      const packed = await packSignatures(escrow, safeTxHash, signed);
      return batchCall(
        [escrow.deploymentCall, executionCall(escrow, transaction, packed)],
        multiSendCallOnly,
      );
    },
    (receipt) => readExecution(receipt, expected).succeeded,
  );
}

type Receipt = Awaited<ReturnType<TestChain['send']>>;

async function cost(
  chain: TestChain,
  sender: TestWallet,
  prepare: () => Promise<ContractCall>,
  isDone: (receipt: Receipt) => boolean = ({ status }) => status === 'success',
): Promise<Cost> {
  const began = performance.now();
  const receipt = await chain.send(sender, await prepare());
  const ms = performance.now() - began;
  // A step that failed is cheaper, and would flatter the figure.
  if (!isDone(receipt)) throw new Error('a step of the lifecycle did not succeed');
  return { gas: Number(receipt.gasUsed), ms };
}
