import { startLocalChain } from '../../apps/gateway/src/local/local-chain.ts';
import { CONFIRMATIONS, LOCAL_CHAINS } from '../../apps/gateway/src/local/local-services.ts';

/**
 * A chain of a sandbox as a process of its own, on the port it had before: to a deployment, a node is another machine. What
 * it has acknowledged is in its journal, so that it may be killed at any moment. Prints its address as CHAIN_RPC_URLS has it.
 */
const [home = '', slug = ''] = process.argv.slice(2);
const chain = LOCAL_CHAINS.find((one) => one.slug === slug);
if (chain === undefined) throw new Error(`no local chain is called "${slug}"`);
const { rpcUrl } = await startLocalChain({
  home,
  ...chain,
  confirmations: CONFIRMATIONS,
  // A process may be killed; the machine stays.
  durable: false,
  onNotice: (text) => process.stderr.write(`${text}\n`),
});
process.stdout.write(`${slug}=${rpcUrl}\n`);
