import { readdir, readFile } from 'node:fs/promises';
import { getCreate2Address, zeroHash } from 'viem';
import { describe, expect, test } from 'vitest';
import { renderGeneratedModules } from './compile.ts';
import { compatibilityFallbackHandler, multiSendCallOnly, safe, safeProxyFactory } from './index.ts';

const generatedFolder = new URL('./generated/', import.meta.url);

test('the committed artifacts are exactly what the sources compile to', async () => {
  const fresh = await renderGeneratedModules();
  expect((await readdir(generatedFolder)).sort()).toEqual([...fresh.keys()].sort());
  for (const [fileName, text] of fresh) {
    const committed = await readFile(new URL(fileName, generatedFolder), 'utf8');
    expect(committed === text, `${fileName} differs: run npm run build -w contracts`).toBe(true);
  }
});

describe('Safe contracts are byte for byte the ones deployed on public chains', () => {
  // Safe's singleton factory and the addresses of release 1.4.1: both follow from the creation code alone.
  const singletonFactory = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7';
  test.each([
    ['Safe', safe.bytecode, '0x41675C099F32341bf84BFc5382aF534df5C7461a'],
    ['SafeProxyFactory', safeProxyFactory.bytecode, '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67'],
    ['MultiSendCallOnly', multiSendCallOnly.bytecode, '0x9641d764fc13c8B624c04430C7356C1C7C8102e2'],
    [
      'CompatibilityFallbackHandler',
      compatibilityFallbackHandler.bytecode,
      '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
    ],
  ] as const)('%s', (_name, bytecode, publicAddress) => {
    expect(getCreate2Address({ from: singletonFactory, salt: zeroHash, bytecode })).toBe(publicAddress);
  });
});
