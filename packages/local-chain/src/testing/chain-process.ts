import { LocalChain } from '../local-chain.ts';
import { serveRpc } from '../rpc-server.ts';

/** A chain in a process of its own, to be killed or starved by a test: `chain-process.ts <chain id> <journal file>`. */
const [chainId, journalFile] = process.argv.slice(2);
if (journalFile === undefined) throw new Error('usage: chain-process.ts <chain id> <journal file>');
const chain = await LocalChain.open({ chainId: Number(chainId), journalFile });
const server = await serveRpc(chain);
process.stdout.write(`${server.url}\n`);
