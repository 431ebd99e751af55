import type { DecodedCall, Trust } from '@causeway/sdk/signing';

/** What a call does, as a sentence and its parts: the same for everything that a wallet signs or sends. */
export interface Movement {
  /** Decimal text with the token’s code. */
  readonly amount: string;
  readonly to: string;
  /** Who that is, where it is known. */
  readonly whom: string;
}

export interface Words {
  readonly sentence: string;
  readonly movements: readonly Movement[];
}

/** Who is behind an address: `{ '0x…': 'your wallet' }`, in any spelling. */
export type Names = Readonly<Record<string, string>>;

/** Amounts of a chain are whole numbers of the smallest unit. */
export function fromAtomic(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Throws for a token that the deployment does not know: its amount could not be told. */
export function amountText(tokens: Trust['tokens'], token: string, amount: bigint): string {
  const [code, known] =
    Object.entries(tokens).find(([, { address }]) => address.toLowerCase() === token.toLowerCase()) ?? [];
  if (code === undefined || known === undefined) throw new Error(`The token ${token} is not known here.`);
  return `${fromAtomic(amount, known.decimals)} ${code}`;
}

export function wordsOf(
  call: DecodedCall,
  { tokens, names, from }: { readonly tokens: Trust['tokens']; readonly names: Names; readonly from: string },
): Words {
  const nameOf = (address: string) =>
    Object.entries(names).find(([known]) => known.toLowerCase() === address.toLowerCase())?.[1] ??
    'an address that is not named here';
  const movement = (token: string, to: string, amount: bigint): Movement => ({
    amount: amountText(tokens, token, amount),
    to,
    whom: nameOf(to),
  });
  switch (call.kind) {
    case 'transfers': {
      const movements = call.transfers.map(({ token, to, amount }) => movement(token, to, amount));
      const parts = movements.map(({ amount, whom }) => `${amount} to ${whom}`);
      return { sentence: `Pays ${listed(parts)}, out of ${nameOf(from)}.`, movements };
    }
    case 'fund-escrow': {
      const one = movement(call.token, call.escrow, call.amount);
      return { sentence: `Moves ${one.amount} from ${nameOf(from)} to ${one.whom}.`, movements: [one] };
    }
    case 'deposit-to-bridge': {
      const one = movement(call.token, call.solver, call.amount);
      return { sentence: `Moves ${one.amount} from ${nameOf(from)} to ${one.whom}.`, movements: [one] };
    }
    case 'approve': {
      const one = movement(call.token, call.spender, call.amount);
      return {
        sentence: `Lets ${one.whom} take up to ${one.amount} from ${nameOf(from)}.`,
        movements: [one],
      };
    }
  }
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
