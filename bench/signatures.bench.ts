import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  type ForwardRequest,
  forwardTypedData,
  hashForwardRequest,
} from '../apps/gateway/src/chain/authorization/forward-request.ts';
import type { Address, Hex } from '../apps/gateway/src/chain/chain-settings.ts';
import { recoverSigner } from '../apps/gateway/src/chain/signers/signature.ts';
import { compareFigures } from './frame/compare.ts';
import type { BenchReport } from './frame/report.ts';

/**
 * Every authorization is verified off-chain before anything is sent: hashing the typed data and recovering its signer.
 * WebAssembly that runs everywhere, not a native build: docs/decisions/0021.
 */
const TARGET_RATIO = 4;
const ROUNDS = 5;
const BASELINE_RUNS = 60;
const CANDIDATE_RUNS = 600;

interface Signed {
  readonly request: ForwardRequest;
  readonly signature: Hex;
}

export async function run(report: BenchReport): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey());
  const context = contextOf(account.address);
  const inputs: Signed[] = [];
  for (let nonce = 0; nonce < 32; nonce += 1) {
    const request: ForwardRequest = {
      from: account.address,
      to: account.address,
      value: 0n,
      gas: 250_000n,
      nonce: BigInt(nonce),
      deadline: 1_900_000_000,
      data: `0x${'ab'.repeat(132)}`,
    };
    const signature = await account.signTypedData(forwardTypedData(context, request));
    inputs.push({ request, signature });
  }
  const verifyOurs = ({ request, signature }: Signed) =>
    recoverSigner(hashForwardRequest(context, request), signature);
  const verifyViem = ({ request, signature }: Signed) =>
    recoverTypedDataAddress({ ...forwardTypedData(context, request), signature });

  // Both sides compiled before either is measured.
  await perSecond(BASELINE_RUNS, inputs, account.address, verifyViem);
  await perSecond(CANDIDATE_RUNS, inputs, account.address, verifyOurs);
  report.add(
    await compareFigures({
      name: 'verifying a signed forward request, against viem recoverTypedDataAddress',
      baseline: () => perSecond(BASELINE_RUNS, inputs, account.address, verifyViem),
      candidate: () => perSecond(CANDIDATE_RUNS, inputs, account.address, verifyOurs),
      sidesUnit: 'verified/s',
      rounds: ROUNDS,
      better: 'higher',
      targetRatio: TARGET_RATIO,
    }),
  );
}

async function perSecond(
  runs: number,
  inputs: readonly Signed[],
  expected: Address,
  verify: (signed: Signed) => Address | Promise<Address>,
): Promise<number> {
  const began = performance.now();
  for (let index = 0; index < runs; index += 1) {
    const signed = inputs[index % inputs.length];
    if (signed === undefined || (await verify(signed)) !== expected)
      throw new Error('a signer was not found');
  }
  return (runs * 1_000) / (performance.now() - began);
}

function contextOf(address: Address) {
  return {
    chainId: 73_570_001,
    contracts: {
      safeSingleton: address,
      safeProxyFactory: address,
      multiSendCallOnly: address,
      fallbackHandler: address,
      forwarder: address,
      router: address,
    },
  };
}
