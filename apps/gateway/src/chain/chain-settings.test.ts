import { expect, it } from 'vitest';
import { toChecksumAddress } from './chain-settings.ts';

const RIGHT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const DIGITS = RIGHT.slice(2);

it.each([
  ['with its checksum', RIGHT],
  ['in lower case', RIGHT.toLowerCase()],
  ['in upper case', `0x${DIGITS.toUpperCase()}`],
])('an address %s is taken, in its EIP-55 spelling', (_how, text) => {
  expect(toChecksumAddress(text)).toBe(RIGHT);
});

it.each([
  ['with a wrong checksum', RIGHT.replace('aA', 'Aa')],
  ['with a digit too few', RIGHT.slice(0, -1)],
  ['with a digit too many', `${RIGHT}0`],
  ['without its prefix', DIGITS],
  ['with another prefix', `0X${DIGITS.toUpperCase()}`],
  ['with a letter that is no digit', `0x${'g'.repeat(40)}`],
  ['that has no key', `0x${'0'.repeat(40)}`],
  ['that is empty', ''],
])('an address %s is none', (_how, text) => {
  expect(toChecksumAddress(text)).toBeUndefined();
});
