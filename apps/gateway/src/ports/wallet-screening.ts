import { testOutcomeOf } from '@causeway/protocol';

/** What is known of a wallet. A list's own address is the address itself, so a hit is a verdict: it blocks. */
export interface WalletFinding {
  readonly status: 'clear' | 'review' | 'blocked';
  /** Which lists or categories it was met in, for the reviewer. */
  readonly listed: readonly string[];
  /** Which edition was asked, so that a decision can be explained later. */
  readonly listVersion: string;
}

/** Asks whether a wallet may be paid or taken from. Who cannot say rejects, and the wallet is not used. */
export interface WalletScreeningPort {
  screen(address: string): Promise<WalletFinding>;
}

/** Carries neither the service's address nor what it answered. */
export class WalletScreeningUnavailable extends Error {
  override readonly name = 'WalletScreeningUnavailable';
}

const STRICTEST = ['blocked', 'review', 'clear'] as const;

/** Asks one after the other and stops at the first hit: a listed wallet is refused even while a service is down. */
export function screenByAll(ports: readonly WalletScreeningPort[]): WalletScreeningPort {
  return {
    async screen(address) {
      const findings: WalletFinding[] = [];
      for (const port of ports) {
        const finding = await port.screen(address);
        findings.push(finding);
        if (finding.status === 'blocked') break;
      }
      return {
        status: STRICTEST.find((one) => findings.some(({ status }) => status === one)) ?? 'review',
        listed: findings.flatMap(({ listed }) => listed),
        listVersion: findings.map(({ listVersion }) => listVersion).join(' '),
      };
    },
  };
}

/** A sandbox's own wallets to try a refusal with; their keys are unknown. */
export const testWallets: WalletScreeningPort = {
  async screen(address) {
    const status = testOutcomeOf('wallet', (wallet) => wallet === address.toLowerCase()) ?? 'clear';
    return { status, listed: status === 'clear' ? [] : ['sandbox test value'], listVersion: 'sandbox' };
  },
};
