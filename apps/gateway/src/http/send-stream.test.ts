import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { newId } from '../lib/ids.ts';
import { createStreamHub } from '../lib/stream-hub.ts';
import { route } from './route.ts';
import { sendStream } from './send-stream.ts';

const PARTNER = newId();

describe('a client that leaves a stream', () => {
  let database: TestDatabase;
  let shell: Shell;
  let key: string;
  let served: Socket | undefined;
  let begin: (cursor: string) => void = () => {};
  const logs: string[] = [];
  const lines = (id: string) => logs.map((line) => JSON.parse(line)).filter((line) => line.request_id === id);

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
    key = await insertKey(database.owner, 'partner', PARTNER);
    const hub = createStreamHub({
      latest: () =>
        new Promise((resolve) => {
          begin = resolve;
        }),
      read: async () => [],
      isStillValid: async () => true,
    });
    shell = await startShell({
      databaseUrl: database.url,
      onLog: (line) => logs.push(line),
      routes: (app) => {
        app.addHook('preClose', async () => hub.close());
        route(app, {
          access: 'partner',
          transaction: 'none',
          tag: 'Webhooks',
          summary: 'x',
          data: Type.Object({}),
          method: 'GET',
          url: '/api/v1/t/events',
          operationId: 'events',
          query: Type.Object({ wait: Type.Optional(Type.Boolean()) }),
          handle: async () => ({}),
          stream: {
            message: Type.Object({}),
            open: async ({ query, request }, { partnerId }, reply) => {
              const { socket } = request.raw;
              served = socket;
              if (query.wait) await until('it has left', () => socket.destroyed);
              return sendStream(hub, partnerId, undefined, request, reply);
            },
          },
        });
      },
    });
  });
  afterAll(async () => {
    await shell?.stop();
    await database?.close();
  });

  it.each([
    ['before it is opened', 'left-early', '?wait=true'],
    ['before its first line', 'left-later', ''],
  ])('%s is no failure, and logged once', async (_when, id, query) => {
    served = undefined;
    const socket = connect(shell.port, '127.0.0.1');
    socket.write(
      `GET /api/v1/t/events${query} HTTP/1.1\r\nhost: x\r\nx-request-id: ${id}\r\nx-api-key: ${key}\r\naccept: text/event-stream\r\n\r\n`,
    );
    await until('the request', () => served !== undefined && (query !== '' || lines(id).length === 1));
    socket.destroy();
    await until('the end of the connection', () => served?.closed);
    begin('0');
    await until('its line', () => lines(id).length > 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(lines(id).map(({ level, status, msg }) => [level, status, msg])).toEqual([
      ['info', 200, 'request'],
    ]);
    expect(shell.metrics.httpRequests.inFlight).toBe(0);
  });
});
