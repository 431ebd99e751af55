import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  isAllowedAddress,
  judgeUrl,
  leadsToForbiddenAddress,
  type Resolver,
} from '../../apps/gateway/src/features/webhooks/webhook-address.ts';
import { createWebhookSender } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';

/** Addresses that no webhook may reach; IPv4 ones are also tried wrapped in every form of IPv6. */
const HOSTILE_IPV4 = [
  ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.0.0.1', '0.255.255.255'],
  ...['10.0.0.1', '10.1.2.3', '10.255.255.255', '172.16.0.1', '172.20.10.5', '172.31.255.255'],
  ...['192.168.0.1', '192.168.1.254', '192.168.255.255', '169.254.0.1', '169.254.169.254', '169.254.170.2'],
  ...['100.64.0.1', '100.100.100.200', '100.127.255.255', '168.63.129.16', '192.0.0.1', '192.0.0.192'],
  ...['192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255', '192.88.99.1'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '254.1.1.1', '255.255.255.255'],
];
const HOSTILE_IPV6 = [
  ...['::1', '::', 'fe80::1', 'fe80::a9fe:a9fe', 'febf::1', 'fc00::1', 'fd00::1', 'fd00:ec2::254', 'fdff::1'],
  ...['fec0::1', 'ff02::1', 'ff05::1:3', '100::1', '2001:db8::1', '3fff::1', '2001::1', '2001:10::1'],
  ...['2001:20::1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '5f00::1', '::7f00:1', '::a00:1', '4000::1'],
];
/** Other spellings of 127.0.0.1, 169.254.169.254 and 10.0.0.1. */
const ODD_SPELLINGS = [
  ...['2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.1', '127.0.1', '0x7f.1'],
  ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '0xa9.0xfe.0xa9.0xfe', '167772161'],
  ...['012.0.0.1', '10.1', '0', '0x0', '127.0.0.1.', '１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ｌocalhost'],
];

function wrapped(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  const words = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return [
    `::ffff:${ipv4}`,
    `::ffff:${words}`,
    `64:ff9b::${ipv4}`,
    `64:ff9b:1::${words}`,
    `::ffff:0:${words}`,
  ];
}

describe('hostile webhook addresses', () => {
  let canary: Server;
  let port: number;
  let connections = 0;
  const policy = () => ({ allowLoopback: false, ports: [port] });

  beforeAll(async () => {
    canary = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    // Every address of this machine, of both families.
    await new Promise<void>((resolve) => canary.listen({ port: 0, host: '::' }, resolve));
    port = (canary.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => canary.close(resolve)));

  const message = (url: string) => ({ url, secrets: { current: 'whsec_x' }, body: '{}' });
  const answering =
    (addresses: readonly string[]): Resolver =>
    (_name, done) =>
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  async function send(url: string, resolve?: Resolver) {
    const sender = createWebhookSender(policy(), () => 1_800_000_000, {
      timeoutMs: 2_000,
      ...(resolve ? { resolve } : {}),
    });
    try {
      return await sender.send(message(url));
    } finally {
      await sender.close();
    }
  }

  it('the canary counts: where loopback is allowed, it is reached by address and by name', async () => {
    const before = connections;
    const sender = createWebhookSender({ allowLoopback: true, ports: [port] }, () => 1_800_000_000, {
      resolve: answering(['127.0.0.1']),
    });
    await sender.send(message(`https://127.0.0.1:${port}/`));
    await sender.send(message(`https://[::1]:${port}/`));
    await sender.send(message(`https://hooks.example:${port}/`));
    await sender.close();
    expect(connections - before).toBe(3);
  });

  // Proves D10.4, trap 34.
  it('at least 150 hostile addresses are refused as hosts and as what a name resolves to: no connection is made', async () => {
    const before = connections;
    const literals = [...HOSTILE_IPV4, ...HOSTILE_IPV6, ...HOSTILE_IPV4.flatMap(wrapped)];
    const hosts = [
      ...literals.map((address) => (address.includes(':') ? `[${address}]` : address)),
      ...ODD_SPELLINGS,
    ];
    expect(new Set(hosts).size).toBeGreaterThanOrEqual(150);
    const sent: string[] = [];
    for (const host of hosts) {
      const result = await send(`https://${host}:${port}/hook`);
      if (result.kind !== 'failed' || !/_not_allowed$/.test(result.reason))
        sent.push(`${host}: ${JSON.stringify(result)}`);
    }
    expect(sent).toEqual([]);
    for (const address of literals) {
      const result = await send(`https://hooks.example:${port}/`, answering(['93.184.216.34', address]));
      expect(result, address).toMatchObject({ kind: 'failed', reason: 'address_not_allowed' });
      const url = new URL('https://hooks.example/');
      const names = { lookupFor: async () => [{ address, family: address.includes(':') ? 6 : 4 }] };
      expect(await leadsToForbiddenAddress(url, policy(), names, 'partner'), address).toBe(true);
    }
    expect(connections).toBe(before);
  });

  // Proves D10.4, trap 34.
  it('a name that is public when it is registered and private when it is called is refused then', async () => {
    const before = connections;
    const published = { lookupFor: async () => [{ address: '93.184.216.34', family: 4 }] };
    const url = new URL(`https://rebind.example:${port}/`);
    expect(await leadsToForbiddenAddress(url, policy(), published, 'partner')).toBe(false);
    expect(await send(url.href, answering(['127.0.0.1']))).toMatchObject({
      kind: 'failed',
      reason: 'address_not_allowed',
    });
    expect(connections).toBe(before);
  });

  // Proves trap 34.
  it.each([
    ['user info', 'https://user:secret@hooks.example/', 'credentials'],
    ['user info that looks like the host', 'https://hooks.example@127.0.0.1/', 'credentials'],
    ['plain HTTP', 'http://hooks.example/', 'https_required'],
    ['another scheme', 'gopher://hooks.example/', 'https_required'],
    ['a file', 'file:///etc/passwd', 'https_required'],
    ['SSH', 'https://hooks.example:22/', 'port_not_allowed'],
    ['SMTP', 'https://hooks.example:25/', 'port_not_allowed'],
    ['PostgreSQL', 'https://hooks.example:5432/', 'port_not_allowed'],
    ['Redis', 'https://hooks.example:6379/', 'port_not_allowed'],
    ['port 0', 'https://hooks.example:0/', 'port_not_allowed'],
    ['too long', `https://hooks.example/${'a'.repeat(2_048)}`, 'not_a_url'],
    ['no host', 'https://', 'not_a_url'],
  ])('refuses %s', (_what, url, problem) => {
    expect(judgeUrl(url, { allowLoopback: false })).toEqual({ problem });
  });

  it('lets public addresses through on the usual ports, and on whichever are configured', () => {
    for (const url of [
      'https://hooks.example/',
      'https://hooks.example:8443/a?b=c',
      'https://93.184.216.34/',
    ]) {
      expect(judgeUrl(url, { allowLoopback: false })).toHaveProperty('url');
    }
    for (const port of [80, 3000, 9443]) {
      const url = `https://hooks.example:${port}/`;
      expect(judgeUrl(url, { allowLoopback: false, ports: 'any' })).toHaveProperty('url');
      expect(judgeUrl(url, { allowLoopback: false, ports: [port] })).toHaveProperty('url');
      expect(judgeUrl(url, { allowLoopback: false, ports: [443] })).toEqual({ problem: 'port_not_allowed' });
    }
    for (const address of ['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '172.32.0.1', '100.128.0.1']) {
      expect(isAllowedAddress(address, { allowLoopback: false }), address).toBe(true);
    }
  });

  // Proves D10.4, trap 34.
  it('follows no redirect, wherever it leads', async () => {
    const before = connections;
    const sink = await startWebhookSink({ tls: false });
    const sender = createWebhookSender({ allowLoopback: true }, () => 1_800_000_000);
    try {
      for (const status of [301, 302, 303, 307, 308] as const) {
        sink.setFault({ kind: 'redirect', status, location: `http://127.0.0.1:${port}/` });
        expect(await sender.send(message(sink.url))).toMatchObject({ kind: 'answered', status });
      }
      expect(connections).toBe(before);
    } finally {
      await sender.close();
      await sink.close();
    }
  });

  // Proves trap 34.
  it('an endless answer is cut off, a trickling one ends with the time for the whole call', async () => {
    const sink = await startWebhookSink({ tls: false, faults: { kind: 'huge', bytes: 512 * 1024 * 1024 } });
    const sender = createWebhookSender({ allowLoopback: true }, () => 1_800_000_000, { timeoutMs: 1_000 });
    try {
      const huge = await sender.send(message(sink.url));
      expect(huge).toMatchObject({ kind: 'answered', status: 200 });
      expect(huge.kind === 'answered' && huge.excerpt.length).toBe(4_096);
      for (const kind of ['slow', 'slow-headers'] as const) {
        sink.setFault({ kind, bytes: 1_000, intervalMs: 100 });
        const slow = await sender.send(message(sink.url));
        expect(slow).toMatchObject({ kind: 'failed', reason: 'timeout' });
        // It would trickle for 100 seconds.
        expect(slow.durationMs).toBeLessThan(20_000);
      }
    } finally {
      await sender.close();
      await sink.close();
    }
  });

  // Proves C6 rule 3, C8 row 7, trap 34.
  it('a receiver has ten seconds for the whole call, and no more', async () => {
    const sink = await startWebhookSink({ tls: false, faults: { kind: 'hang' } });
    const sender = createWebhookSender({ allowLoopback: true }, () => 1_800_000_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let outcome: Awaited<ReturnType<typeof sender.send>> | undefined;
      const sent = sender.send(message(sink.url)).then((result) => {
        outcome = result;
      });
      while (sink.received.length === 0) await new Promise((settle) => setImmediate(settle));
      await vi.advanceTimersByTimeAsync(9_999);
      expect(outcome).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      await sent;
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout' });
    } finally {
      vi.useRealTimers();
      await sender.close();
      await sink.close();
    }
  });
});
