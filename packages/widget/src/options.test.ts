import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildWidget } from '../../../apps/widget/build.ts';
import { frameAddress, settingsOf } from './options.ts';

const KEY = { widgetKey: 'cw_widget_abc', baseUrl: 'https://ramp.example' };
const SESSION = 'https://ramp.example/widget/checkout?session=0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10#code';

test('the frame’s address names the key, and nothing that is personal', () => {
  const options = { ...KEY, wallet: '0xabc', userReference: 'customer-7', amount: '100' };
  expect(frameAddress(options, 0).href).toBe('https://ramp.example/widget/frame?key=cw_widget_abc');
  expect(frameAddress(options, 2).searchParams.get('instance')).toBe('2');
});

test('a session’s url becomes the frame’s, its code stays in the fragment', () => {
  const address = frameAddress({ session: SESSION }, 0);
  expect(address.href).toBe(
    'https://ramp.example/widget/frame?session=0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10#code',
  );
});

test.each([
  ['neither key nor session', {}],
  ['both', { ...KEY, session: SESSION }],
  ['no service', { widgetKey: 'cw_widget_abc' }],
  ['a service without a scheme', { ...KEY, baseUrl: 'ramp.example' }],
  ['a service in clear text', { ...KEY, baseUrl: 'http://ramp.example' }],
  ['a script', { ...KEY, baseUrl: 'javascript:alert(1)' }],
  ['a session without its code', { session: SESSION.replace('#code', '') }],
  ['a session of another service', { session: SESSION, baseUrl: 'https://other.example' }],
])('%s is refused with words', (_name, options) => {
  expect(() => frameAddress(options, 0)).toThrow(/^Causeway: /);
});

test('a frame is told what concerns it: no callbacks, no key, no empty texts, no unknown variables', () => {
  const settings = settingsOf({
    ...KEY,
    side: 'offramp',
    amount: 100 as unknown as string,
    country: '',
    onReady: () => undefined,
    theme: { mode: 'dark', variables: { accent: '#06f', evil: 'x' } as { accent: string } },
  });
  expect(settings).toEqual({
    side: 'offramp',
    amount: '100',
    theme: { mode: 'dark', variables: { accent: '#06f' } },
  });
  expect(structuredClone(settings)).toEqual(settings);
});

test('the loader weighs at most 6 kB and asks for no inline style or script', async () => {
  const { folder, loader } = await buildWidget();
  const code = readFileSync(join(folder, loader));
  expect(gzipSync(code).length).toBeLessThanOrEqual(6_000);
  expect(code.toString()).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|cssText/,
  );
});
