import { causewayRouter, erc2771Forwarder } from '@causeway/contracts';
import { BaseError, erc20Abi, isAddressEqual } from 'viem';
import { forwarderDomain } from '../authorization/forward-request.ts';
import type { Address, ChainSettings } from '../chain-settings.ts';
import { type ChainClient, createChainClient } from '../rpc/chain-client.ts';
import { NodeUnavailableError, rpcNode } from '../rpc/rpc-node.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import { LOOK_BACK_BLOCKS } from '../watcher/watching.ts';
import { CONTRACT_NAMES, CONTRACT_ROLES } from './contract-plan.ts';
import { verdictOn } from './contract-survey.ts';

/** Whether a chain is as its entry says: nodes, code, what the contracts answer, tokens. */

export interface CheckResult {
  readonly subject: string;
  readonly ok: boolean;
  readonly message: string;
}

export type CheckedChain = Pick<
  ChainSettings,
  'slug' | 'chainId' | 'rpcUrl' | 'rpcUrls' | 'contracts' | 'tokens'
> &
  Partial<Pick<ChainSettings, 'confirmations'>>;

/** Never throws for what a chain or a node says: every finding is a line of the result. */
export async function checkChain(chain: CheckedChain): Promise<CheckResult[]> {
  const urls = chain.rpcUrls ?? [chain.rpcUrl];
  const nodes = await Promise.all(urls.map((url, index) => checkNode(chain, url, index)));
  if (!nodes.some(({ ok }) => ok)) return nodes;
  const client = createChainClient(chain);
  const contracts = await Promise.all(
    CONTRACT_ROLES.map((role) =>
      checked(`${CONTRACT_NAMES[role]} ${chain.contracts[role]}`, async () => {
        const { state, text } = await verdictOn(client, role, chain.contracts);
        return { ok: state === 'right', message: text };
      }),
    ),
  );
  const histories = urls.map((url, index) => ({ url, index })).filter(({ index }) => nodes[index]?.ok);
  const answers = await Promise.all([
    ...histories.map(({ url, index }) => checkHistory(chain, url, index)),
    checked('router', () => checkTrust(client, chain)),
    checked('forwarder', () => checkDomain(client, chain)),
    ...chain.tokens.map((token) =>
      checked(`${token.code} ${token.address}`, () => checkToken(client, token)),
    ),
  ]);
  return [...nodes, ...contracts, ...answers];
}

/** The chain id of a node that answers; its address is never part of an error. */
export async function readChainId(name: string, url: string): Promise<number> {
  try {
    return Number(await rpcNode(name, url).call('eth_chainId', []));
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    throw new ChainUnavailableError(error.shortMessage);
  }
}

/** What a token says of itself, or undefined where there is no token. */
export async function readToken(
  client: ChainClient,
  address: Address,
): Promise<{ readonly decimals: number; readonly symbol: string } | undefined> {
  const read = <const Name extends 'decimals' | 'symbol'>(functionName: Name) =>
    client.readContract({ abi: erc20Abi, address, functionName });
  try {
    const [decimals, symbol] = await Promise.all([read('decimals'), read('symbol')]);
    return { decimals, symbol };
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    if (error.walk((cause) => cause instanceof NodeUnavailableError)) await answered(Promise.reject(error));
    return undefined;
  }
}

/** Issuers write Tether's name as USDT, USDt or USD₮. */
export function symbolFits(code: string, symbol: string): boolean {
  return symbol.replaceAll('₮', 'T').toUpperCase() === code;
}

function checkNode({ slug, chainId }: CheckedChain, url: string, index: number): Promise<CheckResult> {
  return checked(`node ${index + 1}`, async () => {
    const found = await readChainId(`node ${index + 1} of ${slug}`, url);
    const ok = found === chainId;
    return { ok, message: ok ? `serves chain ${chainId}` : `serves chain ${found}, not ${chainId}` };
  });
}

/**
 * A node that throws old blocks away answers as any other until a new escrow has to be searched for, or a transaction has
 * to be known as final: then everything waits for it.
 */
function checkHistory(chain: CheckedChain, url: string, index: number): Promise<CheckResult> {
  const { slug, contracts, confirmations = 1 } = chain;
  const node = rpcNode(`node ${index + 1} of ${slug}`, url);
  const isGiven = async (method: string, params: unknown) => {
    try {
      return (await node.call(method, params)) !== null;
    } catch (error) {
      if (error instanceof BaseError) return false;
      throw error;
    }
  };
  return checked(`node ${index + 1} history`, async () => {
    const head = Number(await node.call('eth_blockNumber', []));
    const back = (blocks: number) => Math.max(0, head - blocks);
    const [old, recent] = [back(LOOK_BACK_BLOCKS), back(confirmations - 1)];
    const at = (block: number) => `0x${block.toString(16)}`;
    const logs = { fromBlock: at(old), toBlock: at(old), address: contracts.forwarder };
    const asked = [
      { what: `block ${old}`, given: isGiven('eth_getBlockByNumber', [at(old), false]) },
      { what: `the logs of block ${old}`, given: isGiven('eth_getLogs', [logs]) },
      {
        what: `the state of block ${recent}`,
        given: isGiven('eth_getTransactionCount', [contracts.forwarder, at(recent)]),
      },
    ];
    const answers = await Promise.all(asked.map(({ given }) => given));
    const missing = asked.filter((_, n) => !answers[n]).map(({ what }) => what);
    const ok = missing.length === 0;
    return { ok, message: ok ? `goes back to block ${old}` : `does not give ${missing.join(' and ')}` };
  });
}

async function checkTrust(client: ChainClient, { contracts }: CheckedChain) {
  const trusted = await client.readContract({
    abi: causewayRouter.abi,
    address: contracts.router,
    functionName: 'trustedForwarder',
  });
  const ok = isAddressEqual(trusted, contracts.forwarder);
  return { ok, message: ok ? 'trusts the forwarder' : `trusts ${trusted}, which is not the forwarder` };
}

async function checkDomain(client: ChainClient, chain: CheckedChain) {
  const [fields, name, version, chainId, verifyingContract] = await client.readContract({
    abi: erc2771Forwarder.abi,
    address: chain.contracts.forwarder,
    functionName: 'eip712Domain',
  });
  const expected = forwarderDomain(chain);
  const differences = [
    ...(name === expected.name ? [] : [`name ${JSON.stringify(name)}`]),
    ...(version === expected.version ? [] : [`version ${JSON.stringify(version)}`]),
    ...(chainId === BigInt(expected.chainId) ? [] : [`chain ${chainId}`]),
    ...(isAddressEqual(verifyingContract, expected.verifyingContract)
      ? []
      : [`contract ${verifyingContract}`]),
    // Name, version, chain and contract, without a salt.
    ...(fields === '0x0f' ? [] : [`fields ${fields}`]),
  ];
  const ok = differences.length === 0;
  return {
    ok,
    message: ok
      ? `verifies what partners sign (${name} ${version}, chain ${chainId})`
      : `would refuse what partners sign: its domain has ${differences.join(', ')}`,
  };
}

async function checkToken(client: ChainClient, { code, address, decimals }: CheckedChain['tokens'][number]) {
  const token = await readToken(client, address);
  if (token === undefined) return { ok: false, message: 'does not answer as a token' };
  const ok = token.decimals === decimals;
  const name = symbolFits(code, token.symbol) ? '' : `; calls itself ${JSON.stringify(token.symbol)}`;
  return {
    ok,
    message: `has ${token.decimals} decimals${ok ? '' : `, and the chains file says ${decimals}`}${name}`,
  };
}

async function checked(
  subject: string,
  look: () => Promise<{ ok: boolean; message: string }>,
): Promise<CheckResult> {
  try {
    return { subject, ...(await look()) };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { subject, ok: false, message: error.message };
    if (!(error instanceof BaseError)) throw error;
    const isAway = error.walk((cause) => cause instanceof NodeUnavailableError) !== null;
    return {
      subject,
      ok: false,
      message: isAway ? 'the node did not answer' : 'does not answer as it should',
    };
  }
}
