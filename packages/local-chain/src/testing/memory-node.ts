import { type Entry, LocalChain } from '../local-chain.ts';
import { serveRpc } from '../rpc-server.ts';

/** A real chain that answers JSON-RPC on a free port and is gone when stopped. */
export interface MemoryNode {
  readonly rpcUrl: string;
  /** What happened on it, to copy it. */
  history(): Promise<readonly Entry[]>;
  stop(): Promise<void>;
}

export async function startMemoryNode(chainId: number, history?: readonly Entry[]): Promise<MemoryNode> {
  const chain = await LocalChain.open({ chainId, ...(history === undefined ? {} : { history }) });
  const server = await serveRpc(chain);
  return {
    rpcUrl: server.url,
    history: () => chain.history(),
    async stop() {
      await server.close();
      await chain.close();
    },
  };
}
