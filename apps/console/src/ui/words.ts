/** `fiat_transfer_pending` as `Fiat transfer pending`. */
export function words(name: string): string {
  const text = name.replaceAll(/[_-]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
