import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METHODS } from './names.ts';
import { listOperations, readRecords, SDK_METHODS, sdkMethodAt, writeRecord } from './operations.ts';

describe('operations called through the SDK', () => {
  it.each([
    ['GET', '/api/v1/partner/orders/0199', 'orders.get'],
    ['GET', '/api/v1/partner/orders', 'orders.list'],
    ['GET', '/api/v1/partner/webhooks/deliveries', 'webhooks.listDeliveries'],
    ['POST', '/api/v1/partner/webhooks/test', 'webhooks.test'],
    ['DELETE', '/api/v1/partner/webhooks/test', 'webhooks.delete'],
    ['GET', '/api/v1/partner/exports/orders.csv', 'exports.orders'],
    ['GET', '/api/v1/partner/exports/ordersXcsv', undefined],
    ['PUT', '/api/v1/partner/orders', undefined],
  ])('%s %s is %s', (method, path, name) => {
    expect(sdkMethodAt(method, path)?.name).toBe(name);
  });

  it('names what no test called, and the files that called the others', () => {
    const called = SDK_METHODS.map(({ name }) => name).filter((name) => name !== 'orders.cancel');
    const { lines, missing } = listOperations([{ file: 'test/a.test.ts', called }]);
    expect(missing).toEqual(['cancelOrder']);
    expect(lines.find((line) => line.startsWith('cancelOrder '))).toContain('NO TEST');
    expect(lines.find((line) => line.startsWith('getOrder '))).toMatch(/orders\.get +test\/a\.test\.ts$/);
    expect(lines.length).toBeGreaterThan(Object.keys(METHODS).length);
  });

  it('a record of a test file that is gone does not count', () => {
    const root = mkdtempSync(join(tmpdir(), 'causeway-operations-'));
    try {
      mkdirSync(join(root, 'test'));
      writeFileSync(join(root, 'test/here.test.ts'), '');
      for (const file of ['test/here.test.ts', 'test/gone.test.ts'])
        writeRecord({ file, called: ['a.b'] }, root);
      expect(readRecords(root)).toEqual([{ file: 'test/here.test.ts', called: ['a.b'] }]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
