import { expect, test } from 'vitest';
import { configOfApiProcess } from './api-processes.ts';
import { loadConfig } from './config.ts';

const configOf = (env: Record<string, string>, place: number) =>
  configOfApiProcess(loadConfig({ API_PROCESSES: '3', ...env }, []), place);

test('processes of the API share the connections to the database', () => {
  expect(configOf({ DATABASE_POOL_SIZE: '10' }, 1).databasePoolSize).toBe(3);
  expect(configOf({ DATABASE_POOL_SIZE: '4' }, 1).databasePoolSize).toBe(2);
});

test('each has a port for its metrics after the first process’s, unless there is none or any will do', () => {
  expect(configOf({ METRICS_PORT: '9464' }, 2).metricsPort).toBe(9466);
  expect(configOf({ METRICS_PORT: '0' }, 2).metricsPort).toBe(0);
  expect(configOf({ METRICS_PORT: 'off' }, 2).metricsPort).toBeNull();
});

test('one of several serves alone, and does not start others', () => {
  expect(configOf({}, 1).apiProcesses).toBe(1);
});
