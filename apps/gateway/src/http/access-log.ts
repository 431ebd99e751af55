import type { FastifyRequest } from 'fastify';
import { machineNow } from '../lib/clock.ts';
import type { LineWriter } from '../lib/logger.ts';

/**
 * One line for every request, so that the X-Request-Id a partner quotes can be found. It names the route's pattern and the
 * id of the key; never a path, a query, a body, an address or the key itself. Made by hand: a logger's way to a line
 * costs as much as the rest of the shell.
 */
export interface AccessLog {
  /** For all answers of one route; undefined for a route whose answers are not logged. */
  ofRoute(method: string, route: string): LogAnswer | undefined;
  /** For requests that found no route. */
  ofUnmatched(method: string): LogAnswer;
  /** For what is not HTTP, answered past everything else. */
  logUnreadable(requestId: string, status: number): void;
}

/** What a line tells of a request. */
export type LoggedRequest = Pick<FastifyRequest, 'id' | 'principal'> & {
  readonly raw: Pick<FastifyRequest['raw'], 'method' | 'socket'>;
};
export type LogAnswer = (request: LoggedRequest, status: number, ms: number) => void;

/** Asked every few seconds for ever by whatever watches the process: their answers are in the metrics. */
const PROBES = new Set(['/health', '/ready']);

export function createAccessLog(lines: LineWriter): AccessLog {
  let stampedAt = 0;
  let stamp = '';

  /** Many lines fall into one millisecond, and formatting the time is the dearest part of a line. */
  function timeStamp(): string {
    const now = machineNow();
    if (now !== stampedAt) {
      stampedAt = now;
      stamp = new Date(now).toISOString();
    }
    return stamp;
  }

  function logger(method: string | null, route: string | null): LogAnswer {
    const what = `","method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"status":`;
    return (request, status, ms) => {
      const tenths = Math.round(ms * 10);
      const keyId = request.principal?.keyId;
      // An id is one of ours or has been checked: nothing in it needs escaping.
      lines.write(
        `{"level":"info","time":"${timeStamp()}","request_id":"${request.id}${what}${status},"ms":${Math.floor(tenths / 10)}.${tenths % 10},"key_id":${keyId === undefined ? 'null' : `"${keyId}"`}${request.raw.socket.destroyed ? ',"aborted":true' : ''},"msg":"request"}\n`,
      );
    };
  }

  return {
    ofRoute: (method, route) => (PROBES.has(route) ? undefined : logger(method, route)),
    ofUnmatched: (method) => logger(method, null),
    logUnreadable(requestId, status) {
      lines.write(
        `{"level":"info","time":"${timeStamp()}","request_id":"${requestId}","method":null,"route":null,"status":${status},"ms":0.0,"key_id":null,"msg":"request"}\n`,
      );
    },
  };
}
