import { percentile } from '../../bench/frame/statistics.ts';
import { answerParent } from '../soak/load-process.ts';
import { openConnections } from './connections.ts';
import { runOpenLoop, seededRandom } from './open-loop.ts';

/**
 * What the machine alone makes a request wait: few requests to a bare Fastify that does nothing else, sent by a process that
 * does nothing else, in the same seconds in which a deployment is measured. A deployment cannot be quicker than that.
 */
export interface ControlRound {
  readonly url: string;
  readonly seconds: number;
  readonly seed: number;
}

const A_SECOND = 60;
const CONNECTIONS = 4;
const TIMEOUT_MS = 10_000;

answerParent({
  /** The p99, in milliseconds from when each was due. */
  async round({ url, seconds, seed }: ControlRound): Promise<number> {
    const { hostname: host, port, pathname } = new URL(url);
    const connections = openConnections({ host, port: Number(port) }, CONNECTIONS);
    const request = `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    await connections.openAll(request, TIMEOUT_MS);
    const latencies: number[] = [];
    const send = async (_n: number, due: number) => {
      await connections.request(request, TIMEOUT_MS);
      latencies.push(performance.now() - due);
    };
    await runOpenLoop({ seconds, aSecond: A_SECOND, random: seededRandom(seed), send });
    connections.close();
    return percentile(latencies, 0.99);
  },
});
