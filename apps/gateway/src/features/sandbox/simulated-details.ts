import type { Currencies } from '../../upstream/currencies.port.ts';
import type { PlainDetails } from '../orders/order.secrets.ts';
import type { OrderRow } from '../orders/order.types.ts';
import type { DetailsCheck } from '../payment-details/details-check.port.ts';

type Place = Pick<OrderRow, 'payment_network_slug' | 'payment_method_slug' | 'order_id'>;

const NAMES: readonly (string | undefined)[] = ['person_name', 'company_name'];

/** Where a simulated vendor takes fiat: what the rail requires, filled as its examples show it. */
export function simulatedDetails(
  { currencies, detailsCheck }: { readonly currencies: Currencies; readonly detailsCheck: DetailsCheck },
  order: Place,
  vendorName: string,
): PlainDetails {
  const { catalogue } = currencies.current().reference;
  const { payment_network_slug: rail, payment_method_slug: institutionId } = order;
  const format = catalogue.detailsFormat(rail, catalogue.institution(institutionId)?.institutionType ?? '');
  const wanted = new Set(format?.requireOneOf.map(([first]) => first));
  const details: Record<string, string> = { reference: order.order_id.slice(-12) };
  for (const { key, required, format: kind, placeholder, options } of format?.fields ?? []) {
    if (!required && !wanted.has(key)) continue;
    details[key] = NAMES.includes(kind) ? vendorName : (placeholder ?? options?.[0]?.code ?? 'sandbox');
  }
  // Some banks' check digits cover the bank itself, which no example of a rail can know.
  const endings = details.account_number === undefined ? [] : [...'0123456789'];
  const variants = endings.map((digit) => ({
    ...details,
    account_number: `${details.account_number?.slice(0, -1)}${digit}`,
  }));
  return [details, ...variants].find((one) => detailsCheck.fit({ rail, institutionId }, one).ok) ?? details;
}
