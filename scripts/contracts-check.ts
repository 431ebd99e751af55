import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type CheckedChain,
  type CheckResult,
  checkChain,
  readChainId,
} from '../apps/gateway/src/chain/contracts/contract-check.ts';
import { DeploymentError } from '../apps/gateway/src/chain/contracts/contract-deployment.ts';
import { surveyContracts } from '../apps/gateway/src/chain/contracts/contract-survey.ts';
import { createChainClient } from '../apps/gateway/src/chain/rpc/chain-client.ts';
import { ChainUnavailableError } from '../apps/gateway/src/chain/transactions/transaction-rpc.ts';
import { parseChainsFile } from '../apps/gateway/src/config/chains-file.ts';
import { ConfigError, loadDeployConfig } from '../apps/gateway/src/config.ts';

const USAGE = `Usage: npm run contracts:check [-- flags]

Compares the chains file with the chains: chain ids, the code of every contract, what the router trusts, what the
forwarder verifies, the decimals of tokens. Ends with 0 when all is well, 1 when anything is not, 2 for wrong flags.

  --chains-file <path>   file to check (or CHAINS_FILE)
  --chain <slug>         only this chain; several times for several
  --rpc <address>        instead of a file: the addresses where contracts:deploy puts things on this node's chain
  --json                 the result as JSON
`;

/** Something that the caller can put right. */
class CannotCheck extends Error {}

const result = readFlags();
if (result.help) process.stdout.write(USAGE);
else await run(result);

async function run(flags: ReturnType<typeof readFlags>): Promise<void> {
  try {
    const chains = flags.rpc === undefined ? chainsOfFile(flags) : [await chainOfNode(flags.rpc)];
    const reports = await Promise.all(
      chains.map(async (chain) => ({ chain, checks: await checkChain(chain) })),
    );
    const ok = reports.every(({ checks }) => checks.every((check) => check.ok));
    process.stdout.write(flags.json ? asJson(ok, reports) : asText(ok, reports));
    process.exitCode = ok ? 0 : 1;
  } catch (error) {
    const isExpected = [CannotCheck, ConfigError, DeploymentError, ChainUnavailableError].some(
      (kind) => error instanceof kind,
    );
    if (!(isExpected && error instanceof Error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        'chains-file': { type: 'string' },
        chain: { type: 'string', multiple: true, default: [] },
        rpc: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong flags'}\n\n${USAGE}`);
    process.exit(2);
  }
}

function chainsOfFile(flags: ReturnType<typeof readFlags>): readonly CheckedChain[] {
  const path = flags['chains-file'] ?? loadDeployConfig().chainsFile;
  if (path === undefined) throw new CannotCheck('Name the file in --chains-file or CHAINS_FILE.');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new CannotCheck(`${path} cannot be read.`);
  }
  const { chains = [], problems } = parseChainsFile(text);
  if (problems !== undefined) throw new CannotCheck(`${path}:\n  - ${problems.join('\n  - ')}`);
  const absent = flags.chain.filter((slug) => !chains.some((chain) => chain.slug === slug));
  if (absent.length > 0) throw new CannotCheck(`${path} has no chain ${absent.join(', ')}.`);
  return flags.chain.length === 0 ? chains : chains.filter(({ slug }) => flags.chain.includes(slug));
}

async function chainOfNode(rpcUrl: string): Promise<CheckedChain> {
  const chainId = await readChainId('the node', rpcUrl);
  const slug = `chain ${chainId}`;
  const { contracts } = await surveyContracts(createChainClient({ slug, chainId, rpcUrl }));
  return { slug, chainId, rpcUrl, contracts, tokens: [] };
}

interface Report {
  readonly chain: CheckedChain;
  readonly checks: readonly CheckResult[];
}

function asJson(ok: boolean, reports: readonly Report[]): string {
  const chains = reports.map(({ chain, checks }) => ({
    slug: chain.slug,
    chain_id: chain.chainId,
    ok: checks.every((check) => check.ok),
    checks,
  }));
  return `${JSON.stringify({ ok, chains }, null, 2)}\n`;
}

function asText(ok: boolean, reports: readonly Report[]): string {
  const lines = reports.flatMap(({ chain, checks }) => [
    `${chain.slug}, chain ${chain.chainId}`,
    ...checks.map((check) => `  ${check.ok ? 'ok   ' : 'WRONG'}  ${check.subject}: ${check.message}`),
    '',
  ]);
  const wrong = reports.flatMap(({ checks }) => checks).filter((check) => !check.ok).length;
  const verdict = ok ? 'All is as it should be.' : `${wrong} of these ${wrong === 1 ? 'is' : 'are'} wrong.`;
  return `${[...lines, verdict].join('\n')}\n`;
}
