import { LocalChain } from '@causeway/local-chain';
import { serveRpc } from '@causeway/local-chain/rpc';
import { CONFIRMATIONS, LOCAL_CHAINS } from '../../apps/gateway/src/local/local-services.ts';
import { answerParent } from './load-process.ts';

/** The chains of a sandbox in a process of their own: to a deployment, a node is somebody else's machine. */
const BLOCK_GAS = 400_000_000;

answerParent({
  /** As CHAIN_RPC_URLS has them. */
  async start() {
    const addresses = await Promise.all(
      LOCAL_CHAINS.map(async ({ slug, chainId }) => {
        const chain = await LocalChain.open({ chainId, confirmations: CONFIRMATIONS });
        await chain.request('evm_setBlockGasLimit', [`0x${BLOCK_GAS.toString(16)}`]);
        return `${slug}=${(await serveRpc(chain)).url}`;
      }),
    );
    return addresses.join(',');
  },
});
