import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BankingPort, OpenedAccount } from '../../upstream/banking.port.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { userKeyOwner } from '../users/load-user.ts';
import { askBank, BANK_SCHEDULE, lookAgain } from './bank-patience.ts';
import { type ClientFields, clientContext, holderNameOf } from './client-fields.ts';
import {
  accountToOpen,
  activateAccount,
  bankUnavailable,
  failAccount,
  nameAccount,
} from './fiat-account.store.ts';
import { OPEN_ACCOUNT } from './issue-account.ts';
import { accountContext } from './load-account.ts';

export interface OpenAccountTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly vaults: Vaults;
  readonly bank: BankingPort;
}

type Payload = { readonly seal_id: string };

interface Opening {
  readonly opened: OpenedAccount;
  readonly holderName: string;
  readonly vault: Vault;
}

/** Opens an account at the bank, once by its key, and waits until it can be paid into. */
export function openAccountHandler(tools: OpenAccountTools): IntentHandler<Payload> {
  async function carryOut(intent: Intent<Payload>): Promise<Outcome> {
    const { seal_id: sealId } = intent.payload;
    const [account] = await tools.db.query(SYSTEM, accountToOpen, [sealId]);
    if (account === undefined || account.status === 'active') {
      return { kind: 'confirmed', result: 'nothing to do' };
    }
    const vault = tools.vaults.open(account.data_key_sealed, userKeyOwner(account.user_id));
    const fields = vault.open(account.fields_sealed, clientContext(account.user_id, account.round));
    const holderName = holderNameOf(JSON.parse(fields) as ClientFields);
    const asked = await askBank(async () => {
      if (account.bank_reference !== null) return tools.bank.readAccount(account.bank_reference);
      const { reference } = await tools.bank.openAccount({
        key: sealId,
        clientReference: account.client_reference ?? '',
        holderName,
        currency: account.currency,
        jurisdiction: account.jurisdiction,
      });
      await tools.db.query(SYSTEM, nameAccount, [sealId, reference, tools.clock.date()]);
      return null;
    });
    if ('unavailable' in asked) {
      await tools.db.query(SYSTEM, bankUnavailable, [sealId, tools.clock.date()]);
      return { kind: 'retry', error: asked.unavailable };
    }
    if ('refused' in asked) {
      return {
        kind: 'failed',
        error: asked.refused,
        followUp: async (unit) => unit.tx.defer(failAccount, [sealId, unit.at]),
      };
    }
    const { answer: opened } = asked;
    if (opened === null) return lookAgain(tools.clock, intent);
    return {
      kind: 'confirmed',
      followUp: async (unit) => activate(unit, sealId, { opened, holderName, vault }),
    };
  }

  return {
    kind: OPEN_ACCOUNT,
    schedule: BANK_SCHEDULE,
    perform: carryOut,
    reconcile: carryOut,
    exhausted: async (intent, unit) => unit.tx.defer(failAccount, [intent.payload.seal_id, unit.at]),
  };
}

function activate(unit: UnitOfWork, sealId: string, { opened, holderName, vault }: Opening): void {
  const details = { iban: opened.iban, account_holder_name: holderName };
  const sealed = vault.seal(JSON.stringify(details), accountContext(sealId));
  unit.tx.defer(activateAccount, [sealId, sealed, opened.bankName, opened.bic, unit.at]);
}
