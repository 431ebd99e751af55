import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openEventStream } from './event-stream.ts';
import { until } from './until.ts';

it('reads events whole that hold what JavaScript takes for the end of a line', async () => {
  const events = ['Ada\u2028data: {"wrong":1}\u2028id: 99\u2029', 'Grace'].map((name) => ({ name }));
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 1000\nid: 4\n: open\n\n');
    events.forEach((event, at) => {
      response.write(`id: ${at + 5}\nevent: test\ndata: ${JSON.stringify(event)}\n\n`);
    });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const stream = await openEventStream(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {});
    await until('the end', () => stream.ended());
    expect([stream.events(), stream.lastId()]).toEqual([events, '6']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
