import type pg from 'pg';
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, emptyDatabase } from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import { createListener, type Listener } from './listener.ts';

describe('the listener', () => {
  let url: string;
  let admin: pg.Client;
  let listener: Listener | undefined;

  beforeAll(async () => {
    url = await emptyDatabase();
    admin = await connect(url);
    return () => admin.end();
  });
  afterEach(async () => {
    await listener?.close();
    await until('its connection closed', async () => (await backends()).length === 0);
  });

  async function backends(): Promise<number[]> {
    const { rows } = await admin.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'causeway-listener' AND datname = current_database()`,
    );
    return rows.map(({ pid }) => pid);
  }
  async function cut(): Promise<void> {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'causeway-listener' AND datname = current_database()`,
    );
  }
  const start = async () => {
    const errors: unknown[] = [];
    const made = createListener(url, (error) => errors.push(error));
    listener = made;
    return { made, errors };
  };

  it('hands a notification to everyone who listens on its channel only', async () => {
    const { made } = await start();
    const heard: string[] = [];
    made.on('news', (payload) => heard.push(`first ${payload}`));
    made.on('news', (payload) => heard.push(`second ${payload}`));
    made.on('other', () => heard.push('other'));
    await made.start();
    made.on('Later-Channel', (payload) => heard.push(`later ${payload}`));
    await admin.query(`NOTIFY news, 'hello'`);
    await until('both heard', () => heard.length >= 2);
    await until('the channel added after the start is heard', async () => {
      await admin.query(`NOTIFY "Later-Channel", 'x'`);
      return heard.includes('later x');
    });
    expect(heard.filter((line) => !line.startsWith('later'))).toEqual(['first hello', 'second hello']);
  });

  it('says that it is unhealthy while it is cut off, reconnects by itself, and tells so each time', async () => {
    const { made, errors } = await start();
    const heard: string[] = [];
    let connections = 0;
    made.on('news', (payload) => heard.push(payload));
    made.onConnected(() => {
      connections++;
    });
    expect(made.healthy).toBe(false);
    await made.start();
    expect([made.healthy, connections]).toEqual([true, 1]);
    for (const round of [2, 3]) {
      await cut();
      await until('unhealthy', () => !made.healthy);
      await until('healthy again', () => made.healthy);
      expect(connections).toBe(round);
      await admin.query(`SELECT pg_notify('news', $1)`, [String(round)]);
      await until('heard again', () => heard.includes(String(round)));
    }
    expect(errors.length).toBeGreaterThan(0);
    expect(heard).toEqual(['2', '3']);
  });

  it('keeps trying while the server refuses it, and holds one connection in the end', async () => {
    const { made, errors } = await start();
    await made.start();
    const elsewhere = await connect(inject('ground').adminUrl);
    const name = new URL(url).pathname.slice(1);
    try {
      await elsewhere.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      const before = errors.length;
      await cut();
      await until('two refused attempts', () => errors.length >= before + 3);
      expect(made.healthy).toBe(false);
    } finally {
      await elsewhere.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await elsewhere.end();
    }
    await until('healthy again', () => made.healthy);
    expect(await backends()).toHaveLength(1);
  });

  it('closed while it is reconnecting, it stays closed', async () => {
    const { made } = await start();
    await made.start();
    await cut();
    await until('unhealthy', () => !made.healthy);
    await until('a new connection on its way', async () => (await backends()).length > 0 || made.healthy);
    await made.close();
    await until('no connection left', async () => (await backends()).length === 0);
    expect(made.healthy).toBe(false);
  });
});
