import {
  FIAT_CLIENT_REJECTED,
  type FiatAccountStatus,
  type FiatAccountTrigger,
  type FiatClientStatus,
  type FiatClientTrigger,
  fiatAccountMachine,
  fiatClientMachine,
  NEW,
  type NoFacts,
} from '@causeway/protocol';
import type { MachineAdapter } from '../../engine/execute.ts';
import {
  type AccountRow,
  type ClientRow,
  decideClient,
  moveAccount,
  submitClient,
} from './fiat-account.store.ts';

/** How the executor writes customers at the bank and their accounts. */

/** A customer on its way at the bank, with what the new status will carry. */
export interface ClientCase {
  readonly userId: string;
  readonly partnerId: string;
  /** Undefined before the first submission. */
  readonly client: ClientRow | undefined;
  /** Of a submission that is being made: its number and what the bank is told. */
  readonly submission?: { readonly round: number; readonly fieldsSealed: string };
  readonly reasons?: readonly string[];
}

function noEvent(): never {
  throw new Error('accounts and clients publish no event');
}

function noEntry(): never {
  throw new Error('opening an account moves no money');
}

export const clientAdapter: MachineAdapter<ClientCase, FiatClientStatus, FiatClientTrigger, NoFacts, never> =
  {
    machine: fiatClientMachine,
    statusOf: ({ client }) => client?.status ?? NEW,
    factsOf: () => ({}),

    write(unit, one, { status }) {
      const { userId, partnerId, client, submission } = one;
      if (submission === undefined) {
        if (client === undefined) throw new Error('a client begins with a submission');
        const reasons = status === FIAT_CLIENT_REJECTED ? [...(one.reasons ?? [])] : [];
        unit.tx.defer(decideClient, [userId, status, JSON.stringify(reasons), unit.at]);
        return { ...one, client: { ...client, status, rejection_reasons: reasons, updated_at: unit.at } };
      }
      const { round, fieldsSealed } = submission;
      unit.tx.defer(submitClient, [userId, partnerId, round, status, fieldsSealed, unit.at]);
      return {
        ...one,
        client: {
          user_id: userId,
          partner_id: partnerId,
          round,
          status,
          rejection_reasons: [],
          fields_sealed: fieldsSealed,
          bank_reference: null,
          submitted_at: unit.at,
          updated_at: unit.at,
        },
      };
    },

    eventFor: noEvent,
    intentFor({ userId, partnerId, client }, effect) {
      if (effect !== 'bank.submit-client') throw new Error(`a client does not start ${effect}`);
      const round = client?.round ?? 0;
      return {
        kind: effect,
        dedupeKey: `${userId}:${round}`,
        partnerId,
        payload: { user_id: userId, round },
      };
    },
    entryFor: noEntry,
  };

/** An account that the bank has answered about. */
export interface AccountCase {
  readonly account: AccountRow;
  readonly opened?: {
    readonly detailsSealed: string;
    readonly bankName: string;
    readonly bic: string;
  };
}

export const accountAdapter: MachineAdapter<
  AccountCase,
  FiatAccountStatus,
  FiatAccountTrigger,
  NoFacts,
  never
> = {
  machine: fiatAccountMachine,
  statusOf: ({ account }) => account.status,
  factsOf: () => ({}),

  write(unit, { account, opened }, { status }) {
    const moved: AccountRow = {
      ...account,
      status,
      ...(opened === undefined
        ? {}
        : {
            details_sealed: opened.detailsSealed,
            bank_name: opened.bankName,
            bic: opened.bic,
            bank_unavailable: false,
          }),
    };
    unit.tx.defer(moveAccount, [
      moved.seal_id,
      status,
      moved.details_sealed,
      moved.bank_name,
      moved.bic,
      moved.bank_unavailable,
      unit.at,
    ]);
    return { account: moved };
  },

  eventFor: noEvent,
  intentFor({ account }, effect) {
    if (effect !== 'bank.open-account') throw new Error(`an account does not start ${effect}`);
    return {
      kind: effect,
      dedupeKey: account.seal_id,
      partnerId: account.partner_id,
      payload: { seal_id: account.seal_id },
    };
  },
  entryFor: noEntry,
};
