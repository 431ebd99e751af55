/** Amounts come and stay as decimal strings; only the groups of digits are set apart. */
export function formatAmount(amount: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(amount);
  if (match === null) return amount;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign === '' ? '' : '−'}${whole.replaceAll(/\B(?=(\d{3})+$)/g, ' ')}${fraction}`;
}
