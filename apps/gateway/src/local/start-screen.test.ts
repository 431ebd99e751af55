import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeSandboxFile } from './sandbox-file.ts';
import { renderBanner, showProgress } from './start-screen.ts';

const SANDBOX = {
  baseUrl: 'http://127.0.0.1:8080',
  operatorKey: 'operator',
  partners: [
    {
      name: 'Acme',
      apiKey: 'cw_test_a',
      widgetKey: 'cw_widget_a',
      webhookSecret: 'whsec_a',
      walletAddress: '0xaa',
      walletPrivateKey: '0x01',
      fiatAccountsEnabled: true,
    },
  ],
  vendors: [{ name: 'Vera', apiKey: 'vendor_key', walletAddress: '0xbb', walletPrivateKey: '0xbbkey' }],
  console: [{ desk: 'partner' as const, email: 'ada@acme-pay.example', password: 'secret' }],
  chains: [{ slug: 'base', chainId: 3_135_001, rpcUrl: 'http://127.0.0.1:9545' }],
};

describe('sandbox.json', () => {
  // Proves D11.1, D13.5.
  it('has exactly the agreed shape, is private, and leaves nothing half written', async () => {
    const home = await mkdtemp(join(tmpdir(), 'causeway-file-'));
    try {
      const path = await writeSandboxFile(home, SANDBOX);
      await writeSandboxFile(home, SANDBOX);
      expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
        base_url: 'http://127.0.0.1:8080',
        operator_key: 'operator',
        partners: [
          {
            name: 'Acme',
            api_key: 'cw_test_a',
            widget_key: 'cw_widget_a',
            webhook_secret: 'whsec_a',
            wallet_address: '0xaa',
            wallet_private_key: '0x01',
            fiat_accounts_enabled: true,
          },
        ],
        vendors: [
          { name: 'Vera', api_key: 'vendor_key', wallet_address: '0xbb', wallet_private_key: '0xbbkey' },
        ],
        console: [{ desk: 'partner', email: 'ada@acme-pay.example', password: 'secret' }],
        chains: [{ slug: 'base', chain_id: 3_135_001, rpc_url: 'http://127.0.0.1:9545' }],
      });
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readdir(home)).toEqual(['sandbox.json']);
    } finally {
      await rm(home, { recursive: true });
    }
  });
});

describe('banner', () => {
  const info = {
    baseUrl: 'http://127.0.0.1:8080',
    docsUrl: 'http://127.0.0.1:8080/docs',
    metricsUrl: 'http://127.0.0.1:9464/metrics',
    partnerName: 'Acme',
    partnerApiKey: 'cw_test_a',
    operatorKey: 'operator',
    chains: [{ slug: 'base', rpcUrl: 'http://127.0.0.1:9545' }],
    sandboxFile: '/home/me/.causeway/sandbox.json',
  };

  it('tells where everything is, how to get in and what to do next, within a terminal', () => {
    const text = renderBanner(info);
    const parts = [
      info.docsUrl,
      '8080/console',
      '/widget/playground',
      info.metricsUrl,
      info.operatorKey,
      info.sandboxFile,
    ];
    for (const part of [...parts, 'Ctrl-C']) {
      expect(text).toContain(part);
    }
    expect(text).toContain("curl -H 'X-API-Key: cw_test_a' http://127.0.0.1:8080/api/v1/partner/orders");
    expect(text.split('\n').length).toBeLessThan(24);
  });

  it('does not speak of metrics that are switched off', () => {
    const { metricsUrl: _switchedOff, ...rest } = info;
    expect(renderBanner(rest)).not.toContain('Metrics');
  });
});

describe('progress', () => {
  function record(stream: { isTTY?: boolean; columns?: number }): {
    written: string[];
    progress: ReturnType<typeof showProgress>;
  } {
    const written: string[] = [];
    return { written, progress: showProgress({ ...stream, write: (text: string) => written.push(text) }) };
  }

  it('writes plain lines where there is no terminal', () => {
    const { written, progress } = record({});
    progress.update('one');
    progress.note('two');
    progress.end();
    expect(written.join('')).toBe('one\ntwo\n');
  });

  it('keeps to one line at a terminal, cut to its width, while notes stay', () => {
    const { written, progress } = record({ isTTY: true, columns: 12 });
    progress.update('a long piece of news');
    progress.note('stays');
    progress.end();
    expect(written).toEqual(['\r\u001b[2K  a long p…', '\r\u001b[2K  stays\n', '\r\u001b[2K']);
  });
});
