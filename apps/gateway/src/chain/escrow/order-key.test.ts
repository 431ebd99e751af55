import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escrowSaltNonce, orderKey } from './escrow.ts';

describe('an order key', () => {
  test('carries the uuid in its low 16 bytes', () => {
    expect(orderKey('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(
      '0x0000000000000000000000000000000001890a5dac96774bbcceb302099a8057',
    );
  });

  test('is that of one order id, whatever its case, and salts the escrow’s address', () => {
    fc.assert(
      fc.property(fc.uuid(), (orderId) => {
        expect(orderKey(orderId)).toBe(`0x${'0'.repeat(32)}${orderId.replaceAll('-', '')}`);
        expect(orderKey(orderId.toUpperCase())).toBe(orderKey(orderId));
        expect(escrowSaltNonce(orderId)).toBe(BigInt(orderKey(orderId)));
      }),
    );
  });

  test('is refused for anything but a uuid', () => {
    for (const value of [
      '',
      '1',
      '01890a5dac96774bbcceb302099a8057',
      '01890a5d-ac96-774b-bcce-b302099a805g',
    ]) {
      expect(() => orderKey(value)).toThrow('uuid');
    }
  });
});
