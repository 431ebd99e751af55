/** The permission that a wallet has sent and the network has not confirmed yet: after a reload it is waited for, not asked again. */
const KEY = 'causeway-approval';

export interface SentApproval {
  readonly orderId: string;
  readonly amountAtomic: string;
  readonly sentAt: number;
}

export function rememberApproval(sent: SentApproval | null): void {
  try {
    if (sent === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(sent));
  } catch {
    // A browser that stores nothing asks once more.
  }
}

export function sentApproval(orderId: string, amountAtomic: string): SentApproval | null {
  try {
    const sent = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as SentApproval | null;
    return sent?.orderId === orderId && sent.amountAtomic === amountAtomic ? sent : null;
  } catch {
    return null;
  }
}
