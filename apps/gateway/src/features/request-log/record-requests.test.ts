import { once } from 'node:events';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { insertPartner, openTestDatabase } from '../../../../../test/harness/database.ts';
import { insertKey, startShell } from '../../../../../test/harness/shell.ts';
import { until } from '../../../../../test/harness/until.ts';
import { route } from '../../http/route.ts';
import { newId } from '../../lib/ids.ts';
import { recordRequests } from './record-requests.ts';
import type { NewRequestRow } from './request-log.store.ts';

it('a caller that has hung up when it is answered is in the log, with its network', async () => {
  const database = await openTestDatabase();
  const partnerId = newId();
  await insertPartner(database.owner, partnerId);
  const key = await insertKey(database.owner, 'partner', partnerId);
  const noted: (() => NewRequestRow)[] = [];
  let begun = false;
  const shell = await startShell({
    databaseUrl: database.url,
    routes: (app) => {
      const writer = {
        add: (toRow: () => NewRequestRow) => void noted.push(toRow),
        drop: () => {},
        flush: async () => {},
        stop: async () => {},
      };
      recordRequests(app, { writer, principals: { inMemory: () => null }, wall: Date.now });
      route(app, {
        access: 'partner',
        transaction: 'none',
        tag: 'Orders',
        summary: 'x',
        data: Type.Object({}),
        method: 'GET',
        url: '/api/v1/t/slow',
        operationId: 'slow',
        handle: async ({ request }) => {
          begun = true;
          await once(request.raw.socket, 'close');
          return {};
        },
      });
    },
  });
  const socket = connect(shell.port, '127.0.0.1');
  socket.write(`GET /api/v1/t/slow HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
  await until('the request', () => begun);
  socket.destroy();
  await until('its answer', () => noted.length === 1);
  expect(noted[0]?.()).toMatchObject({ status_code: 200, caller_network: '127.0.0.0/24' });
  await shell.stop();
  await database.close();
});
