import { describe, expect, it } from 'vitest';
import { addressGroups, readAddress } from './address.ts';

/** The examples of EIP-55. */
const CHECKSUMMED = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe('a pasted address', () => {
  it.each(CHECKSUMMED)('%s is taken as it is', (address) => {
    expect(readAddress(address)).toEqual({ ok: true, address, isChecked: true });
    expect(readAddress(`  ${address}\n`)).toEqual({ ok: true, address, isChecked: true });
  });

  it.each(CHECKSUMMED)('%s in one case is taken, and has no checksum to hold it against', (address) => {
    const upper = `0x${address.slice(2).toUpperCase()}`;
    for (const spelt of [address.toLowerCase(), upper]) {
      expect(readAddress(spelt)).toEqual({ ok: true, address, isChecked: false });
    }
  });

  it.each(CHECKSUMMED)('%s with any one letter in the other case is a typing mistake', (address) => {
    for (const [at, letter] of [...address].entries()) {
      if (at < 2 || !/[a-f]/i.test(letter)) continue;
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      const spelt = address.slice(0, at) + other + address.slice(at + 1);
      expect(readAddress(spelt)).toEqual({ ok: false, problem: 'checksum' });
    }
  });

  it('is read from the link that a wallet’s QR code holds', () => {
    const [address = ''] = CHECKSUMMED;
    expect(readAddress(`ethereum:${address}@8453`)).toMatchObject({ ok: true, address });
    expect(readAddress(`ethereum:${address}`)).toMatchObject({ ok: true, address });
  });

  it.each([
    ['', 'required'],
    ['   ', 'required'],
    ['vitalik.eth', 'ens'],
    ['pay.ada.base.eth', 'ens'],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', 'invalid'],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd', 'invalid'],
    ['0xZZAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'invalid'],
    ['5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'invalid'],
    [`0x${'0'.repeat(40)}`, 'zero'],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'otherNetwork'],
    ['TN3W4H6rK2ce4vX9YnFQHwKENnHjoxb3m9', 'otherNetwork'],
    ['7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK', 'otherNetwork'],
  ])('%s is refused: %s', (text, problem) => {
    expect(readAddress(text)).toEqual({ ok: false, problem });
  });

  it('is not the contract of a token', () => {
    const [token = ''] = CHECKSUMMED;
    expect(readAddress(token, [token.toLowerCase()])).toEqual({ ok: false, problem: 'token' });
  });

  it('is shown whole, in groups of four', () => {
    const [address = ''] = CHECKSUMMED;
    expect(addressGroups(address).slice(0, 3)).toEqual(['0x', '5aAe', 'b605']);
    expect(addressGroups(address).join('')).toBe(address);
  });
});
