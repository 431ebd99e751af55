import { constants } from 'node:fs';
import { access, readFile, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type Address,
  type ChainToken,
  isChecksumAddress,
  toChecksumAddress,
} from './chain/chain-settings.ts';
import { readChainId, readToken, symbolFits } from './chain/contracts/contract-check.ts';
import { DeploymentError, deployContracts } from './chain/contracts/contract-deployment.ts';
import { CONTRACT_NAMES, CONTRACT_ROLES, type Create2Factory } from './chain/contracts/contract-plan.ts';
import {
  type ContractSurvey,
  coins,
  type DeploymentCost,
  estimateDeployment,
  faultsOf,
  surveyContracts,
} from './chain/contracts/contract-survey.ts';
import { type ChainClient, createChainClient } from './chain/rpc/chain-client.ts';
import type { Signer } from './chain/signers/keystore-signer.ts';
import { type ConfiguredChain, parseChainsFile, withChain } from './config/chains-file.ts';
import { writeFileAtomically } from './local/atomic-file.ts';

/**
 * `npm run contracts:deploy`: makes a chain ready for this program and writes its entry into the chains file. Everything that
 * can be refused is refused before the first transaction; what is left out keeps the value of the existing entry.
 */
export interface DeployRequest {
  readonly slug: string;
  readonly rpcUrls: readonly string[];
  readonly chainsFile: string;
  /** A token without an address is taken from the listing. */
  readonly tokens: readonly { readonly code: string; readonly address?: string }[];
  readonly treasury?: string;
  readonly publicRpcUrl?: string;
  readonly confirmations?: number;
  /** Shows what would be done. */
  readonly dryRun: boolean;
  /** Gives the contracts of the entry up for new ones. */
  readonly replace: boolean;
  /** Takes tokens that call themselves something else. */
  readonly anySymbol: boolean;
}

export interface DeployDeps {
  readonly deployer: Signer | undefined;
  /** What the listing that partners see says about a chain. */
  readonly listed: (
    slug: string,
  ) => { readonly chainId: number; readonly tokens: readonly ChainToken[] } | undefined;
  readonly print: (text: string) => void;
  readonly confirm: (question: string) => Promise<boolean>;
  readonly factory?: Create2Factory;
  readonly pollingMs?: number;
}

/** Whether the chain is ready and the file says so; of a dry run, whether it could be made so. */
export async function deployToChain(request: DeployRequest, deps: DeployDeps): Promise<boolean> {
  const { print, deployer } = deps;
  const { chains } = await openChainsFile(request.chainsFile);
  const previous = chains.find(({ slug }) => slug === request.slug);
  const client = await connect(request, deps, chains);
  const survey = await surveyContracts(client, {
    replace: request.replace,
    ...(previous === undefined ? {} : { configured: previous.contracts }),
    ...(deps.factory === undefined ? {} : { factory: deps.factory }),
  });
  const { entry, notes, problems } = await describeChain(request, deps, { client, previous, survey });
  const cost = await estimateDeployment(client, survey);
  print(describePlan(client, survey, cost, entry.tokens).join('\n'));
  for (const note of [...survey.notes, ...notes]) print(`  Note: ${note}`);
  if (survey.missing.length > 0) problems.push(...(await describeCost(client, deployer, cost, print)));
  if (problems.length > 0) {
    throw new DeploymentError(`Nothing was sent and nothing written. First:\n  - ${problems.join('\n  - ')}`);
  }
  if (request.dryRun) {
    print('Nothing was sent and nothing written: this was a dry run.');
    return true;
  }
  if (survey.missing.length === 0) print('Every contract is there: nothing was sent.');
  else if (!(await deployMissing(client, survey, deps))) return false;
  print(await writeEntry(request.chainsFile, entry));
  return true;
}

async function deployMissing(
  client: ChainClient,
  { missing, contracts }: ContractSurvey,
  { deployer, print, confirm, pollingMs }: DeployDeps,
): Promise<boolean> {
  if (deployer === undefined) throw new Error('a deployment without a deployer');
  if (!(await confirm('Send these transactions?'))) {
    print('Nothing was sent and nothing written.');
    return false;
  }
  await deployContracts(client, deployer, missing, {
    onStep: (text) => print(`  ${text}`),
    ...(pollingMs === undefined ? {} : { pollingMs }),
  });
  const faults = await faultsOf(client, contracts);
  if (faults.length > 0) {
    throw new DeploymentError(
      `What was deployed is not what was meant:\n${faults.map(({ text }) => `  - ${text}`).join('\n')}`,
    );
  }
  print('Every contract is there and has exactly the code of this build.');
  return true;
}

async function openChainsFile(
  path: string,
): Promise<{ readonly text?: string; readonly chains: readonly ConfiguredChain[] }> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw new DeploymentError(`${path} cannot be read.`);
    }
    await access(dirname(path), constants.W_OK).catch(() => {
      throw new DeploymentError(`${path} cannot be written: its folder is missing or not yours to write to.`);
    });
    return { chains: [] };
  }
  const { chains = [], problems } = parseChainsFile(text);
  if (problems !== undefined) {
    throw new DeploymentError(`${path} is no chains file to add to:\n  - ${problems.join('\n  - ')}`);
  }
  return { text, chains };
}

/** Refuses a node of another chain than the one that is meant, as far as anything says which is meant. */
async function connect(
  { slug, rpcUrls }: DeployRequest,
  { listed }: DeployDeps,
  chains: readonly ConfiguredChain[],
): Promise<ChainClient> {
  const previous = chains.find((chain) => chain.slug === slug);
  const urls = rpcUrls.length > 0 ? rpcUrls : (previous?.rpcUrls ?? []);
  const [rpcUrl] = urls;
  if (rpcUrl === undefined) throw new DeploymentError('Say through which node: --rpc, or DEPLOY_RPC_URL.');
  const ids = await Promise.all(urls.map((url, index) => readChainId(`node ${index + 1} of ${slug}`, url)));
  const [chainId = 0] = ids;
  if (ids.some((id) => id !== chainId)) {
    throw new DeploymentError(`The nodes serve different chains: ${ids.join(', ')}.`);
  }
  const meant = previous?.chainId ?? listed(slug)?.chainId ?? chainId;
  if (chainId !== meant) {
    throw new DeploymentError(`${slug} is chain ${meant}, and the node serves chain ${chainId}.`);
  }
  const other = chains.find((chain) => chain.chainId === chainId && chain.slug !== slug);
  if (other !== undefined) {
    throw new DeploymentError(`The chains file has chain ${chainId} already, under the name ${other.slug}.`);
  }
  return createChainClient({ slug, chainId, rpcUrl, rpcUrls: urls });
}

interface Found {
  readonly client: ChainClient;
  readonly previous: ConfiguredChain | undefined;
  readonly survey: ContractSurvey;
}

interface Findings {
  readonly notes: string[];
  /** What stands in the way, each an advice. */
  readonly problems: string[];
}

async function describeChain(
  request: DeployRequest,
  deps: DeployDeps,
  found: Found,
): Promise<Findings & { entry: ConfiguredChain }> {
  const { client, previous, survey } = found;
  const findings: Findings = { notes: [], problems: [] };
  const { notes, problems } = findings;
  if (deps.listed(request.slug) === undefined) {
    notes.push(`no chain of the listing that partners see is called ${request.slug}.`);
  }
  const tokens = await describeTokens(request, deps, found, findings);
  const required = <T>(value: T | undefined, flag: string): T => {
    if (value === undefined) problems.push(`say ${flag}`);
    return value as T;
  };
  const entry: ConfiguredChain = {
    slug: request.slug,
    chainId: client.chain.id,
    rpcUrl: request.rpcUrls[0] ?? previous?.rpcUrl ?? '',
    rpcUrls: request.rpcUrls.length > 0 ? request.rpcUrls : (previous?.rpcUrls ?? []),
    ...(previous?.quorum === undefined ? {} : { quorum: previous.quorum }),
    publicRpcUrl: required(request.publicRpcUrl ?? previous?.publicRpcUrl, '--public-rpc'),
    confirmations: required(request.confirmations ?? previous?.confirmations, '--confirmations'),
    contracts: survey.contracts,
    tokens,
    treasury: required((request.treasury as Address | undefined) ?? previous?.treasury, '--treasury'),
  };
  if (request.treasury !== undefined && !isChecksumAddress(request.treasury)) {
    problems.push('write --treasury in mixed case, with its checksum: a slip in it would lose every fee');
  }
  const taken = [...Object.values(survey.contracts), ...tokens.map(({ address }) => address)];
  if (taken.includes(entry.treasury)) problems.push('--treasury is the address of a contract: take a wallet');
  if (problems.length === 0) problems.push(...(parseChainsFile(withChain(undefined, entry)).problems ?? []));
  return { entry, ...findings };
}

/** The tokens of the existing entry with those of the flags; decimals are the token's own word. */
async function describeTokens(
  { slug, tokens, anySymbol }: DeployRequest,
  { listed }: DeployDeps,
  { client, previous }: Found,
  { notes, problems }: Findings,
): Promise<ChainToken[]> {
  const described = (previous?.tokens ?? []).filter(
    ({ code }) => !tokens.some((token) => token.code === code),
  );
  for (const { code, address: given } of tokens) {
    const known = listed(slug)?.tokens.find((token) => token.code === code)?.address;
    const address = given === undefined ? known : toChecksumAddress(given);
    if (address === undefined) {
      problems.push(
        given === undefined
          ? `say --token ${code}=0x…: the listing has no ${code} on ${slug}`
          : `correct the address of ${code}: it is none, or its checksum is wrong`,
      );
      continue;
    }
    const token = await readToken(client, address);
    if (token === undefined) {
      problems.push(`correct --token ${code}: at ${address} nothing answers decimals() and symbol()`);
      continue;
    }
    if (!symbolFits(code, token.symbol) && !anySymbol) {
      const symbol = JSON.stringify(token.symbol);
      problems.push(
        `make sure of ${address}: it calls itself ${symbol}, not ${code} (--any-symbol takes it)`,
      );
    }
    if (known !== undefined && known !== address) {
      notes.push(`partners are shown ${code} at ${known}, and this deployment will settle in ${address}.`);
    }
    described.push({ code, address, decimals: token.decimals });
  }
  if (described.length === 0 && tokens.length === 0) problems.push('say --token, once for each');
  return described;
}

function describePlan(
  client: ChainClient,
  survey: ContractSurvey,
  cost: DeploymentCost,
  tokens: readonly ChainToken[],
): string[] {
  const width = Math.max(...Object.values(CONTRACT_NAMES).map(({ length }) => length));
  const gasOf = (name: string) => cost.steps.find((step) => step.name === name)?.gas;
  const lines = CONTRACT_ROLES.map((role) => {
    const address = survey.contracts[role];
    const gas = survey.missing.some((contract) => contract.address === address)
      ? gasOf(CONTRACT_NAMES[role])
      : undefined;
    const state = gas === undefined ? 'is there' : `to deploy, ${gas.toLocaleString('en')} gas`;
    return `  ${CONTRACT_NAMES[role].padEnd(width)}  ${address}  ${state}`;
  });
  const factories = survey.missingFactories.map(
    ({ address }) =>
      `  ${'CREATE2 factory'.padEnd(width)}  ${address}  to deploy first, by its presigned transaction`,
  );
  const tokenLines = tokens.map(
    ({ code, address, decimals }) => `  ${code.padEnd(width)}  ${address}  ${decimals} decimals`,
  );
  return [`${client.chain.name}, chain ${client.chain.id}`, ...factories, ...lines, ...tokenLines];
}

/** Prints it, and answers what stands in the way of paying it. */
async function describeCost(
  client: ChainClient,
  deployer: Signer | undefined,
  { expectedWei, atMostWei }: DeploymentCost,
  print: (text: string) => void,
): Promise<string[]> {
  print(
    `It costs about ${coins(expectedWei)}, at most ${coins(atMostWei, 'up')}, of the chain's coin (a rollup adds its fee for data).`,
  );
  if (deployer === undefined)
    return ['set DEPLOYER_KEY or DEPLOYER_KEYSTORE: the deployment has to be paid for'];
  const balance = await client.getBalance({ address: deployer.address });
  print(`The deployer ${deployer.address} has ${coins(balance)}.`);
  if (balance >= atMostWei) return [];
  return [
    `the deployer has too little: send ${coins(atMostWei - balance, 'up')} or more to ${deployer.address}`,
  ];
}

/** The file is read again: another chain may have been added while this one was deployed. */
async function writeEntry(path: string, entry: ConfiguredChain): Promise<string> {
  const { text } = await openChainsFile(path);
  const content = withChain(text, entry);
  if (content === text) return `${path} is up to date.`;
  await writeFileAtomically(await realpath(path).catch(() => path), content);
  return `${path} has the entry for ${entry.slug}.`;
}
