/**
 * Fiat between customers and vendors, which the platform never sees: a transfer is sent, arrives some time later, or is told
 * twice. Vendors and partners confirm what arrived, or claim what did not.
 */
export interface FiatTransfer {
  readonly orderId: string;
  hasArrived: boolean;
}

export class SimulatedBank {
  readonly transfers: FiatTransfer[] = [];

  send(orderId: string): void {
    this.transfers.push({ orderId, hasArrived: false });
  }

  get underway(): readonly FiatTransfer[] {
    return this.transfers.filter(({ hasArrived }) => !hasArrived);
  }

  wasSent(orderId: string): boolean {
    return this.transfers.some((transfer) => transfer.orderId === orderId);
  }

  hasArrived(orderId: string): boolean {
    return this.transfers.some((transfer) => transfer.orderId === orderId && transfer.hasArrived);
  }
}
