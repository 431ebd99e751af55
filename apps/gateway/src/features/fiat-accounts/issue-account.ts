import { CausewayError, type FiatAccountInput } from '@causeway/protocol';
import type { Static } from 'typebox';
import { prepareIntent } from '../../engine/intent.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { BankingPort } from '../../upstream/banking.port.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import { lockUserRow } from '../users/load-user.ts';
import type { UserRow } from '../users/user.types.ts';
import { type AccountRow, accountFor, insertAccount } from './fiat-account.store.ts';
import { findClient } from './fiat-client.store.ts';

export interface IssueTools {
  readonly currencies: Currencies;
  readonly bank: BankingPort | undefined;
}

export const OPEN_ACCOUNT = 'bank.open-account';

/**
 * One account for a customer, a currency and a jurisdiction, however often and by how many at once it is asked for: the
 * customer's lock puts them in a row, and the table takes no second one. A worker opens it at the bank.
 */
export async function issueAccount(
  tools: IssueTools,
  unit: UnitOfWork,
  userId: string,
  body: Static<typeof FiatAccountInput>,
): Promise<{ readonly user: UserRow; readonly account: AccountRow }> {
  const user = await lockUserRow(unit, userId);
  const { currency, jurisdiction, decimals } = readWish(tools, body);
  const [known] = await unit.tx.query(accountFor, [userId, currency, jurisdiction]);
  if (known !== undefined) return { user, account: usable(known) };
  const [client] = await unit.tx.query(findClient, [userId]);
  if (user.kyc_status !== 'VERIFIED' || client?.status !== 'approved') {
    throw new CausewayError('CLIENT_NOT_APPROVED');
  }
  const sealId = unit.ids.uuid();
  const [account] = await unit.tx.query(insertAccount, [
    sealId,
    user.partner_id,
    userId,
    currency,
    decimals,
    jurisdiction,
    unit.at,
  ]);
  if (account === undefined) throw new Error('the account was not written');
  prepareIntent(unit, {
    kind: OPEN_ACCOUNT,
    dedupeKey: sealId,
    partnerId: user.partner_id,
    payload: { seal_id: sealId },
  });
  return { user, account };
}

/** What the bank did to an account that was asked for before. */
function usable(account: AccountRow): AccountRow {
  if (account.status === 'failed') throw new CausewayError('BANKING_ERROR');
  if (account.status === 'provisioning') {
    throw new CausewayError(account.bank_unavailable ? 'BANKING_UNAVAILABLE' : 'PROVISIONING_IN_PROGRESS');
  }
  return account;
}

function readWish(
  { bank, currencies }: IssueTools,
  body: Static<typeof FiatAccountInput>,
): { readonly currency: string; readonly jurisdiction: string; readonly decimals: number } {
  const currency = body.currency?.trim().toUpperCase() ?? '';
  const jurisdiction = body.jurisdiction?.trim().toUpperCase() ?? '';
  const missing = [
    ...(currency === '' ? ['currency'] : []),
    ...(jurisdiction === '' ? ['jurisdiction'] : []),
  ];
  if (missing.length > 0) {
    throw new CausewayError('MISSING_FIELDS', {
      message: `Required fields are missing: ${missing.join(', ')}.`,
      details: { missing_fields: missing },
    });
  }
  if (bank === undefined) throw new CausewayError('BANKING_UNAVAILABLE');
  const offer = bank.offered.find((one) => one.currency === currency);
  const listed = currencies.current().reference.catalogue.fiatCurrency(currency);
  if (offer === undefined || listed === undefined) {
    throw new CausewayError('UNSUPPORTED_FIAT_CURRENCY', { message: 'currency is not supported.' });
  }
  if (!offer.jurisdictions.includes(jurisdiction)) {
    throw invalidRequest('jurisdiction', `must be one of ${offer.jurisdictions.join(', ')} for ${currency}`);
  }
  return { currency, jurisdiction, decimals: listed.minorUnits };
}
