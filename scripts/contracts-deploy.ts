import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { loadReferenceFiles } from '@causeway/currencies';
import type { ChainToken } from '../apps/gateway/src/chain/chain-settings.ts';
import { DeploymentError } from '../apps/gateway/src/chain/contracts/contract-deployment.ts';
import {
  KeystoreError,
  localSigner,
  openKeystore,
  type Signer,
} from '../apps/gateway/src/chain/signers/keystore-signer.ts';
import { ChainUnavailableError } from '../apps/gateway/src/chain/transactions/transaction-rpc.ts';
import { ConfigError, type DeployConfig, loadDeployConfig } from '../apps/gateway/src/config.ts';
import { type DeployRequest, deployToChain } from '../apps/gateway/src/deploy-contracts.ts';

const USAGE = `Usage: npm run contracts:deploy -- --chain <slug> [flags]

Puts the forwarder, the router and, where the chain lacks it, Safe 1.4.1 on a chain, verifies their code and writes the
chain's entry into the chains file. Shows what it will do and what it costs, and asks. Safe to repeat.

  --chain <slug>           the chain's name in the API, such as base-mainnet
  --rpc <address>          node to use and to put into the entry; several times for several (or DEPLOY_RPC_URL)
  --chains-file <path>     file to write (or CHAINS_FILE)
  --token <code>[=0x…]     USDC, USDT or USDT0; without an address the one that the listing names
  --treasury <0x…>         wallet that receives the platform fees, with its checksum
  --public-rpc <address>   node address that partners are shown
  --confirmations <n>      blocks, its own included, before anything depends on a transaction
  --dry-run                show everything, send and write nothing
  --yes                    do not ask
  --any-symbol             take tokens that call themselves something else
  --replace                give up the contracts that the entry names and cannot be used

What the chains file says about the chain already need not be repeated. The key that pays comes from DEPLOYER_KEY, or from
DEPLOYER_KEYSTORE and DEPLOYER_KEYSTORE_PASSWORD, never from the command line.
`;

/** Wrong flags. */
class UsageError extends Error {}

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else if (
    error instanceof DeploymentError ||
    error instanceof ConfigError ||
    error instanceof KeystoreError ||
    error instanceof ChainUnavailableError
  ) {
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  } else throw error;
}

async function run(): Promise<boolean> {
  const flags = readFlags();
  if (flags.help) {
    process.stdout.write(USAGE);
    return true;
  }
  const config = loadDeployConfig();
  const { chains } = loadReferenceFiles();
  return deployToChain(toRequest(flags, config), {
    deployer: await deployerOf(config),
    listed: (slug) => {
      const chain = chains.find((candidate) => candidate.slug === slug);
      return chain && { chainId: chain.chainId, tokens: chain.tokens as readonly ChainToken[] };
    },
    print: (text) => process.stdout.write(`${text}\n`),
    confirm: async (question) => {
      if (flags.yes) return true;
      if (!process.stdin.isTTY)
        throw new DeploymentError('Nothing was sent. Add --yes to send without being asked.');
      const terminal = createInterface({ input: process.stdin, output: process.stdout });
      const answer = await terminal.question(`\n${question} [y/N] `);
      terminal.close();
      return /^y(es)?$/i.test(answer.trim());
    },
  });
}

type Flags = ReturnType<typeof readFlags>;

function readFlags() {
  try {
    return parseArgs({
      options: {
        chain: { type: 'string' },
        rpc: { type: 'string', multiple: true, default: [] },
        'chains-file': { type: 'string' },
        token: { type: 'string', multiple: true, default: [] },
        treasury: { type: 'string' },
        'public-rpc': { type: 'string' },
        confirmations: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        'any-symbol': { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong flags');
  }
}

function toRequest(flags: Flags, config: DeployConfig): DeployRequest {
  const { chain, treasury, 'public-rpc': publicRpcUrl, confirmations } = flags;
  const chainsFile = flags['chains-file'] ?? config.chainsFile;
  if (chain === undefined) throw new UsageError('--chain is missing.');
  if (chainsFile === undefined) throw new UsageError('--chains-file is missing, and CHAINS_FILE is not set.');
  if (confirmations !== undefined && !/^\d{1,5}$/.test(confirmations)) {
    throw new UsageError('--confirmations must be a whole number.');
  }
  const rpcUrls = flags.rpc.length > 0 ? flags.rpc : [config.deployRpcUrl ?? []].flat();
  if (rpcUrls.some((url) => !/^https?:\/\/[^\s/]+/.test(url))) {
    throw new UsageError('--rpc must be an address such as https://node.example.com.');
  }
  return {
    slug: chain,
    rpcUrls,
    chainsFile,
    tokens: flags.token.map((text) => {
      const [code = '', address] = text.split('=');
      return address === undefined ? { code } : { code, address };
    }),
    ...(treasury === undefined ? {} : { treasury }),
    ...(publicRpcUrl === undefined ? {} : { publicRpcUrl }),
    ...(confirmations === undefined ? {} : { confirmations: Number(confirmations) }),
    dryRun: flags['dry-run'],
    replace: flags.replace,
    anySymbol: flags['any-symbol'],
  };
}

async function deployerOf(config: DeployConfig): Promise<Signer | undefined> {
  const { deployerKey, deployerKeystore, deployerKeystorePassword = '' } = config;
  if (deployerKey !== undefined && deployerKeystore !== undefined) {
    throw new DeploymentError('Set DEPLOYER_KEY or DEPLOYER_KEYSTORE, not both.');
  }
  if (deployerKey !== undefined) return localSigner(deployerKey);
  if (deployerKeystore === undefined) return undefined;
  const text = await readFile(deployerKeystore, 'utf8').catch(() => {
    throw new DeploymentError('DEPLOYER_KEYSTORE names a file that cannot be read.');
  });
  return openKeystore(text, deployerKeystorePassword);
}
