import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SdkAnswers, sdkAnswersOf, sdkOf } from './sdk.ts';
import { calledOperations } from './sdk-operations.ts';

const ORDER = { order_id: 'one', status: 'completed' };
const REFUSED = { code: 'ORDER_NOT_FOUND', message: 'There is no such order.', details: { order_id: 'two' } };

describe('the SDK of tests', () => {
  let server: Server;
  let baseUrl: string;
  let answers: SdkAnswers;
  const asked: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['x-api-key']}`);
      const [status, body] = request.url?.endsWith('/one')
        ? [200, JSON.stringify({ success: true, data: ORDER })]
        : request.url?.endsWith('/busy')
          ? [
              503,
              JSON.stringify({ success: false, error: { code: 'SERVICE_UNAVAILABLE', message: 'Later.' } }),
            ]
          : request.url?.endsWith('/odd')
            ? [200, JSON.stringify(ORDER)]
            : [404, JSON.stringify({ success: false, error: REFUSED })];
      response.writeHead(status as number, { 'x-request-id': 'r-1', 'retry-after': '0' }).end(body);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    answers = sdkAnswersOf(baseUrl, 'key');
  });
  afterAll(() => server.close());

  it('answers what it returns or throws beside what went over the wire', async () => {
    const found = await answers.orders.get('one');
    expect([found.status, found.body.data, found.headers.get('x-request-id')]).toEqual([200, ORDER, 'r-1']);
    const refused = await answers.orders.get('two');
    expect([refused.status, refused.body.error]).toEqual([404, REFUSED]);
    await expect(sdkOf(baseUrl, 'key').orders.get('two')).rejects.toMatchObject({ code: REFUSED.code });
    expect(asked.slice(0, 2)).toEqual([
      'GET /api/v1/partner/orders/one key',
      'GET /api/v1/partner/orders/two key',
    ]);
    expect([...calledOperations()]).toEqual(['orders.get']);
  });

  it('sends once what may be repeated, where a refusal is looked at', async () => {
    const before = asked.length;
    expect((await answers.orders.get('busy')).status).toBe(503);
    expect(asked.length).toBe(before + 1);
  });

  it('fails where the SDK tells something else than was answered', async () => {
    await expect(answers.orders.get('odd')).rejects.toThrow('the SDK threw');
    await expect(sdkAnswersOf('http://127.0.0.1:9', null).orders.get('one')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    });
  });
});
