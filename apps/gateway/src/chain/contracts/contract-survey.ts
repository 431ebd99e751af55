import { BaseError, formatEther } from 'viem';
import type { ChainContracts, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { NodeUnavailableError } from '../rpc/rpc-node.ts';
import { answered, currentFees } from '../transactions/transaction-rpc.ts';
import {
  codeAt,
  DEPLOYMENT_FEE_LIMITS,
  DeploymentError,
  isFactoryThere,
  missingFunds,
} from './contract-deployment.ts';
import {
  CONTRACT_NAMES,
  CONTRACT_ROLES,
  type ContractRole,
  type Create2Factory,
  FACTORY_CODE,
  judgeCode,
  KEYLESS_FACTORY,
  type PlannedContract,
  planForwarder,
  planRouter,
  planSafe,
  SAFE_FACTORY,
  SAFE_ROLES,
} from './contract-plan.ts';

/** What a chain has of the contracts, what it lacks, and what the rest would cost. Sends nothing. */

export interface ContractSurvey {
  readonly contracts: ChainContracts;
  readonly missing: readonly PlannedContract[];
  /** The factories that have to be there first, where they are not. */
  readonly missingFactories: readonly Create2Factory[];
  readonly notes: readonly string[];
}

/** Finding the factory and hashing the code, besides what a plain creation costs. */
const FACTORY_GAS = 20_000n;
const PLAIN_TRANSFER_GAS = 21_000n;
/** `PUSH0`, transient storage and `MCOPY` in one creation, and one without them. */
const CANCUN_PROBE: Hex = '0x5f5f5d5f5c505f5f5f5e5f5ff3';
const PLAIN_PROBE: Hex = '0x60006000f3';

export interface SurveyOptions {
  /** What a chains file names already. */
  readonly configured?: ChainContracts;
  /** Plans anew what is configured and cannot be used, instead of refusing it. */
  readonly replace?: boolean;
  readonly factory?: Create2Factory;
}

/**
 * Contracts that a chains file names are kept as long as their code is right: escrow addresses and allowances depend on
 * them. Otherwise Safe's are taken where its authors put them, and the rest belongs where CREATE2 puts it.
 */
export async function surveyContracts(
  client: ChainClient,
  { configured, replace = false, factory = KEYLESS_FACTORY }: SurveyOptions = {},
): Promise<ContractSurvey> {
  const faults = configured === undefined ? [] : await faultsOf(client, configured);
  if (faults.length > 0 && !replace) {
    throw new DeploymentError(
      `The chains file names contracts that cannot be used:\n${faults.map(({ text }) => `  - ${text}`).join('\n')}\n` +
        'If the node is on the right chain and up to date, let them be replaced with --replace. Escrows, allowances and what partners have signed stay with the old ones.',
    );
  }
  const kept = (role: ContractRole) =>
    faults.some((fault) => fault.role === role) ? undefined : configured?.[role];
  const notes: string[] = [];
  const safes = await Promise.all(
    SAFE_ROLES.map((role) =>
      kept(role) === undefined ? placeSafe(client, role, factory, notes) : undefined,
    ),
  );
  if (safes.some((contract) => contract !== undefined && contract.factory !== SAFE_FACTORY)) {
    notes.push("Safe is not at its usual addresses here: only its authors' factory could put it there.");
  }
  const forwarder = kept('forwarder') === undefined ? planForwarder(factory) : undefined;
  const trusted = forwarder?.address ?? kept('forwarder');
  const router =
    trusted !== undefined && kept('router') === undefined ? planRouter(factory, trusted) : undefined;
  const planned = [...safes, forwarder, router];
  const contracts = Object.fromEntries(
    CONTRACT_ROLES.map((role, place) => [role, planned[place]?.address ?? kept(role)]),
  ) as unknown as ChainContracts;
  const missing = await missingOf(client, planned, contracts);
  const factories = [...new Set(missing.map((contract) => contract.factory))];
  const present = await Promise.all(factories.map((candidate) => isFactoryThere(client, candidate)));
  return { contracts, missing, missingFactories: factories.filter((_, place) => !present[place]), notes };
}

/** Those of the plan that are not there; refuses an address that something else has taken. */
async function missingOf(
  client: ChainClient,
  planned: readonly (PlannedContract | undefined)[],
  contracts: ChainContracts,
): Promise<PlannedContract[]> {
  const missing: PlannedContract[] = [];
  for (const [place, role] of CONTRACT_ROLES.entries()) {
    const contract = planned[place];
    if (contract === undefined) continue;
    const { state, text } = await verdictOn(client, role, contracts);
    if (state === 'missing') missing.push(contract);
    if (state !== 'wrong') continue;
    throw new DeploymentError(
      `At ${contract.address}, where CREATE2 puts the ${contract.name}, there is ${text}. No transaction can put that right: ` +
        'do not trust this node, or this chain.',
    );
  }
  return missing;
}

/** Safe's own address where the release is there or its factory can put it there; otherwise one of our factory. */
async function placeSafe(
  client: ChainClient,
  role: (typeof SAFE_ROLES)[number],
  factory: Create2Factory,
  notes: string[],
): Promise<PlannedContract> {
  const [official, own] = [planSafe(role, SAFE_FACTORY), planSafe(role, factory)];
  const chainId = client.chain.id;
  // Safe's contracts have no immutables, so that nothing but the role decides their code.
  const context = { chainId, contracts: {} as ChainContracts };
  const verdict = judgeCode(role, context, await codeAt(client, official.address));
  if (verdict.state === 'right') return official;
  if (verdict.state === 'wrong') {
    notes.push(
      `At Safe's usual address of the ${CONTRACT_NAMES[role]} there is ${verdict.reason}: not used.`,
    );
    return own;
  }
  if (judgeCode(role, context, await codeAt(client, own.address)).state === 'right') return own;
  return (await codeAt(client, SAFE_FACTORY.address)) === FACTORY_CODE ? official : own;
}

/** Those of these contracts that have not exactly the code of this build. */
export async function faultsOf(
  client: ChainClient,
  contracts: ChainContracts,
): Promise<{ readonly role: ContractRole; readonly text: string }[]> {
  const faults = await Promise.all(
    CONTRACT_ROLES.map(async (role) => {
      const { state, text } = await verdictOn(client, role, contracts);
      return state === 'right' ? [] : [{ role, text: `${CONTRACT_NAMES[role]} ${contracts[role]}: ${text}` }];
    }),
  );
  return faults.flat();
}

export async function verdictOn(
  client: ChainClient,
  role: ContractRole,
  contracts: ChainContracts,
): Promise<{ readonly state: 'right' | 'missing' | 'wrong'; readonly text: string }> {
  const code = await codeAt(client, contracts[role]);
  const { state, reason } = judgeCode(role, { chainId: client.chain.id, contracts }, code);
  const text = {
    right: 'has exactly the code of this build',
    missing: 'there is no contract',
    wrong: reason,
  };
  return { state, text: text[state] ?? '' };
}

export interface DeploymentCost {
  readonly steps: readonly { readonly name: string; readonly gas: bigint }[];
  readonly gas: bigint;
  readonly expectedWei: bigint;
  /** What the deployer must have: fees are offered higher than they will probably be. */
  readonly atMostWei: bigint;
}

/** Asked of a plain creation, because the factory that will create it may not be there yet. */
export async function estimateDeployment(
  client: ChainClient,
  { missing, missingFactories }: Pick<ContractSurvey, 'missing' | 'missingFactories'>,
): Promise<DeploymentCost> {
  await requireCancun(client);
  const creations = await Promise.all(
    missing.map(async ({ name, creationCode }) => ({
      name,
      gas: (await answered(client.estimateGas({ data: creationCode }))) + FACTORY_GAS,
    })),
  );
  const presigned = missingFactories.flatMap((factory) => factory.presigned ?? []);
  const funding = await Promise.all(presigned.map(async (deployment) => missingFunds(client, deployment)));
  const steps = [
    ...presigned.map(() => ({
      name: 'CREATE2 factory (its sender is paid, then it deploys itself)',
      gas: PLAIN_TRANSFER_GAS,
    })),
    ...creations,
  ];
  const fees = await currentFees(client, DEPLOYMENT_FEE_LIMITS);
  const { baseFeePerGas } = await answered(client.getBlock());
  const gas = steps.reduce((sum, step) => sum + step.gas, 0n);
  const fundingWei = funding.reduce((sum, wei) => sum + wei, 0n);
  return {
    steps,
    gas,
    expectedWei: gas * ((baseFeePerGas ?? 0n) + fees.maxPriorityFeePerGas) + fundingWei,
    atMostWei: (gas + gas / 4n) * fees.maxFeePerGas + fundingWei,
  };
}

/** An amount of the chain's own coin, short enough to read: never more than it is, or never less. */
export function coins(wei: bigint, rounding: 'down' | 'up' = 'down'): string {
  const unit = 10n ** BigInt(Math.max(0, `${wei}`.length - 4));
  const short = rounding === 'down' ? (wei / unit) * unit : ((wei + unit - 1n) / unit) * unit;
  return formatEther(short);
}

/** The router keeps its lock in transient storage: deployed on an older chain it would never move anything. */
async function requireCancun(client: ChainClient): Promise<void> {
  const runs = async (data: Hex) => {
    try {
      await client.call({ data });
      return true;
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      if (error.walk((cause) => cause instanceof NodeUnavailableError)) await answered(Promise.reject(error));
      return false;
    }
  };
  if ((await runs(CANCUN_PROBE)) || !(await runs(PLAIN_PROBE))) return;
  throw new DeploymentError(
    'This chain does not know the instructions of Cancun (PUSH0, TSTORE, MCOPY), which the router needs.',
  );
}
