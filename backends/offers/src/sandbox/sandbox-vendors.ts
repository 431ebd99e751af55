import type { Vendor } from '../book/index.ts';
import type { SeededChoice } from './seeded-choice.ts';

const P2P_NAMES = [
  'Harbour Exchange',
  'Meridian Desk',
  'Lantern OTC',
  'Saffron Trading',
  'Copperfield Money',
  'Baobab Exchange',
  'Juniper and Sons',
  'Riverstone Desk',
  'Palmyra Trading',
  'Kestrel Exchange',
  'Tamarind Money',
  'Old Mill OTC',
];
const PROVIDER_NAMES = ['Quayside Payouts', 'Northlight Settlement', 'Tern Automated'];

/** A dozen vendors of the marketplace and three automated providers, all admitted and online. */
export function sandboxVendors(choice: SeededChoice): { p2p: Vendor[]; direct: Vendor[] } {
  const vendorOf = (name: string, kind: Vendor['kind']): Vendor => ({
    vendorId: choice.uuid('vendor', name),
    name,
    kind,
    active: true,
    online: true,
    reputation: {
      completedOrders: choice.between(20, 4_000, name, 'completed'),
      failedOrders: choice.between(0, 40, name, 'failed'),
      disputedOrders: choice.between(0, 5, name, 'disputed'),
    },
  });
  return {
    p2p: P2P_NAMES.map((name) => vendorOf(name, 'p2p')),
    direct: PROVIDER_NAMES.map((name) => vendorOf(name, 'direct')),
  };
}
