import { FAILURE_CODES, HOLD_REASON_CODES, ORDER_PHASES, ORDER_STATUSES } from '@causeway/protocol';
import { describe, expect, it } from 'vitest';
import { type MessageKey, t } from '../i18n/i18n.ts';
import words from '../i18n/messages/en/order.json' with { type: 'json' };
import type { Order, Session } from '../session/api.ts';
import { countdown, durationOf, durationText } from './clock.ts';
import { difference } from './decimal-text.ts';
import {
  failureText,
  holdText,
  knownPhase,
  nowText,
  safeLink,
  statusText,
  stepsAhead,
  transactionLink,
} from './progress.ts';
import { receiptRows, receiptText } from './receipt.ts';

describe('words', () => {
  const has = (key: string) => Object.hasOwn(words, key);

  it('are there for every status, failure, hold and phase of the catalogues', () => {
    const missing = [
      ...ORDER_STATUSES.map((status) => `status.${status}`),
      ...FAILURE_CODES.map((code) => `failure.${code}`),
      ...HOLD_REASON_CODES.map((reason) => `hold.${reason}`),
      ...ORDER_PHASES.map((phase) => `phase.${phase}.title`),
    ].filter((key) => !has(key));
    expect(missing).toEqual([]);
  });

  it('name nothing that the catalogues do not know', () => {
    const [statuses, codes, reasons]: readonly (readonly string[])[] = [
      [...ORDER_STATUSES, 'unknown'],
      FAILURE_CODES,
      [...HOLD_REASON_CODES, 'title', 'unknown', 'wait'],
    ];
    const strange = Object.keys(words).filter((key) => {
      const [area, name = ''] = key.split(/\.(?:now\.)?/);
      if (area === 'status') return !statuses?.includes(name);
      if (area === 'failure') return !codes?.includes(name);
      return area === 'hold' && !reasons?.includes(name);
    });
    expect(strange).toEqual([]);
  });

  it('say “please wait” of what is new', () => {
    expect(statusText('beamed_up')).toBe(t('status.unknown'));
    expect(nowText({ status: 'beamed_up' as Order['status'] })).toBe(t('phase.settle.text'));
    expect(knownPhase({ phase: 'beaming' as Order['phase'] })).toBeUndefined();
    const hold = { reason: 'NEW_REASON' as never, since: '' };
    expect(holdText(hold)).toBe(t('hold.unknown'));
    const failure = { code: 'NEW_CODE' as never, message: 'The service’s own words.', retryable: false };
    expect(failureText(failure)).toBe('The service’s own words.');
  });

  it('tell what comes next from the phase alone', () => {
    for (const phase of ORDER_PHASES) {
      for (const side of ['onramp', 'offramp'] as const) {
        expect(stepsAhead({ phase, side }), phase).toEqual(expect.any(Array));
      }
    }
    expect(stepsAhead({ phase: 'match', side: 'offramp' })[0]).toBe(t('phase.next.sign' as MessageKey));
    expect(stepsAhead({ phase: 'match', side: 'onramp' })[0]).toBe(t('phase.next.pay' as MessageKey));
    expect(stepsAhead({ phase: 'completed', side: 'onramp' })).toEqual([]);
  });
});

describe('times', () => {
  it('are counted down to nothing and not below', () => {
    expect([3_600_000, 425_000, 59_001, 1, 0, -5_000].map(countdown)).toEqual([
      ...['1:00:00', '7:05', '1:00', '0:01', '0:00', '0:00'],
    ]);
  });

  it('are said as a person would', () => {
    expect([20, 60, 61, 900, 5_400, 86_400, 172_800].map(durationOf)).toEqual([
      { unit: 'seconds', count: 20 },
      { unit: 'minutes', count: 1 },
      { unit: 'minutes', count: 2 },
      { unit: 'minutes', count: 15 },
      { unit: 'hours', count: 2 },
      { unit: 'hours', count: 24 },
      { unit: 'days', count: 2 },
    ]);
    expect(durationText(60)).toBe('about 1 minute');
    expect(durationText(1_800)).toBe('about 30 minutes');
  });
});

it('amounts are taken from one another exactly', () => {
  expect(difference('0.30', '0.1')).toBe('0.20');
  expect(difference('134.390000', '9007199254740993.5')).toBe('-9007199254740859.110000');
  expect(difference('100.000000', '99.999999')).toBe('0.000001');
});

it('links lead to https or to this machine, and nowhere else', () => {
  const hrefs = [
    ...['https://shop.example/thanks?x=1', 'http://localhost:3000/', 'http://127.0.0.1:8080/a'],
    ...['http://shop.example/', 'javascript:alert(1)', 'data:text/html,x', '//shop.example', '', undefined],
    'https://user:pass@shop.example/',
  ];
  expect(hrefs.map((href) => safeLink(href)?.host ?? null)).toEqual([
    ...['shop.example', 'localhost:3000', '127.0.0.1:8080'],
    ...[null, null, null, null, null, null, null],
  ]);
  const hash = `0x${'ab'.repeat(32)}`;
  expect(transactionLink('https://basescan.org/', hash)?.href).toBe(`https://basescan.org/tx/${hash}`);
  expect(transactionLink('https://basescan.org', '0x12/../../')).toBeNull();
  expect(transactionLink(null, hash)).toBeNull();
});

it('a receipt says all of it, and as text one line each', () => {
  const order = {
    ...{ side: 'onramp', pay_amount: '100.00', pay_currency: 'EUR', receive_amount: '106.234500' },
    ...{ receive_currency: 'USDC', rate: '0.925926', wallet_address: '0xabc', payout_account: null },
    fee_breakdown: { platform_fee: '1.080000', partner_fee: '0.000000' },
    timeline: [{ status: 'completed', at: '2026-03-01T10:20:00.000Z' }],
    ...{ created_at: '2026-03-01T10:00:00.000Z', order_id: 'id-1', reference_id: 'cart-1' },
    ...{ tx_hash: '0xhash', refund_tx_hash: null },
  } as unknown as Order;
  const session = { partner_name: 'Shop', chain: { name: 'Base' } } as unknown as Session;
  const rows = receiptRows(order, session);
  expect(rows.map(({ id }) => id)).toEqual([
    ...['paid', 'received', 'rate', 'platform-fee', 'created', 'ended', 'wallet', 'network', 'order'],
    ...['reference', 'transaction'],
  ]);
  const text = receiptText('Shop – Receipt', rows).replaceAll('\u00a0', ' ').split('\n');
  expect(text).toContain('Paid: €100.00');
  expect(text).toContain('Received: 106.2345 USDC');
  expect(text).toContain('Rate: 1 USDC = 0.925926 EUR');
  expect(text).toHaveLength(rows.length + 1);
});
