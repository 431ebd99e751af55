import type { Currencies } from '../../upstream/currencies.port.ts';
import type { PlainDetails } from '../orders/order.secrets.ts';
import type { OrderRow } from '../orders/order.types.ts';

/** Where a simulated vendor takes fiat: the rail's own fields, filled as its examples show them. */
export function simulatedDetails(currencies: Currencies, order: OrderRow, vendorName: string): PlainDetails {
  const rail = currencies.current().reference.catalogue.rail(order.payment_network_slug);
  const fields = rail?.fields ?? rail?.formats?.[0]?.fields ?? [];
  const details = Object.fromEntries(
    fields
      .filter(({ required }) => required)
      .map(({ key, placeholder }) => [key, key.includes('name') ? vendorName : (placeholder ?? 'sandbox')]),
  );
  return { ...details, reference: order.order_id.slice(-12) };
}
