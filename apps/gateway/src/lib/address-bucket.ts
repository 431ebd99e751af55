import ipaddr from 'ipaddr.js';

// Working one out again only costs time.
const MAX_REMEMBERED = 10_000;
const known = new Map<string, string>();

/**
 * What requests from an address are counted under. The holder of one IPv6 address has the whole /64 that it lies in, so all of
 * that counts as one; IPv4 inside IPv6 counts as IPv4. A connection that was reset at once has no address.
 */
export function addressBucket(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return address;
  const remembered = known.get(address);
  if (remembered !== undefined) return remembered;
  const bucket = bucketOf(address);
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(address, bucket);
  return bucket;
}

function bucketOf(address: string): string {
  // A zone names an interface of this machine, not who calls.
  const [bare = address] = address.split('%');
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const [a, b, c, d] = (parsed as ipaddr.IPv6).parts;
  return `${[a, b, c, d].map((part) => (part ?? 0).toString(16)).join(':')}::/64`;
}
