import { expect, it } from 'vitest';
import { addressBucket } from './address-bucket.ts';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  // Of a connection that was reset before its address was read.
  [undefined, 'unknown'],
])('%s counts as %s', (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket);
});
