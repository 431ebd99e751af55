import { isValidBIC, isValidIBAN } from 'ibantools';
import { describe, expect, it } from 'vitest';
import { BankingError } from '../../ports/banking.ts';
import { createSimulatedBank, ibanOf, NUMBERING } from './simulated-bank.ts';

const CLIENT = {
  key: 'client-1',
  firstName: 'Ada',
  lastName: 'Lovelace',
  dateOfBirth: '1990-12-10',
  nationality: 'DE',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postalCode: '10117',
  countryCode: 'DE',
  phoneNumber: undefined,
};

/** What came in is in the database; deposits.test.ts asks for it. */
const neverAsked = async (): Promise<never> => {
  throw new Error('no payment is looked up here');
};
const RECORD = { add: neverAsked, after: neverAsked, find: neverAsked };

describe('the simulated bank', () => {
  let time = 1_000_000;
  const bank = createSimulatedBank({ now: () => time, secret: 'shared', record: RECORD });
  const later = () => {
    time += 1_000;
  };

  async function approved(): Promise<string> {
    const { reference } = await bank.submitClient(CLIENT);
    later();
    return reference;
  }

  it.each(Object.keys(NUMBERING))('numbers accounts in %s as banks there do', (country) => {
    for (const number of [0n, 1n, 97n, 1_234_567_890n, 2n ** 63n]) {
      expect([country, number, isValidIBAN(ibanOf(country, number))]).toEqual([country, number, true]);
    }
    expect(isValidBIC(NUMBERING[country]?.bic ?? '')).toBe(true);
    expect(NUMBERING[country]?.bic.slice(4, 6)).toBe(country);
  });

  it('takes its time over a client and over an account', async () => {
    const { reference } = await bank.submitClient(CLIENT);
    expect(await bank.readClient(reference)).toBeNull();
    later();
    expect(await bank.readClient(reference)).toEqual({ outcome: 'approved' });
    const requested = { key: 'account-1', clientReference: reference, holderName: 'Ada Lovelace' };
    const opened = await bank.openAccount({ ...requested, currency: 'EUR', jurisdiction: 'NL' });
    expect(await bank.readAccount(opened.reference)).toBeNull();
    later();
    const account = await bank.readAccount(opened.reference);
    expect(account).toEqual({
      iban: expect.stringMatching(/^NL\d\dCSWY/),
      bic: 'CSWYNL2AXXX',
      bankName: expect.any(String),
    });
    // Asked again with the same key it opens the same account, and another process reads it as well.
    const again = await bank.openAccount({ ...requested, currency: 'EUR', jurisdiction: 'NL' });
    later();
    const other = createSimulatedBank({ now: () => time, secret: 'shared', record: RECORD });
    expect(await other.readAccount(again.reference)).toEqual(account);
  });

  it('stands by what it said, and goes on with what it had begun, when the clock is put back', async () => {
    const open = (clientReference: string) =>
      bank.openAccount({
        ...{ key: 'account-2', clientReference, holderName: 'Ada Lovelace' },
        ...{ currency: 'EUR', jurisdiction: 'DE' },
      });
    time += 1_000_000;
    const client = await approved();
    const { reference: fromAccount } = await open(client);
    time -= 1_000_000;
    expect(await bank.readAccount(fromAccount)).toMatchObject({ bic: 'CSWYDEFFXXX' });
    expect(await bank.readClient((await bank.submitClient(CLIENT)).reference)).toBeNull();
    const to = { kind: 'partner_master', partnerId: 'p' } as const;
    // The clock comes by the very moment again at which the bank was still thinking.
    for (const wait of [0, 999_900, 1_000]) {
      time += wait;
      await open(client);
      await bank.transfer({ key: 'transfer-1', fromAccount, to, currency: 'EUR', amount: 100n });
    }
  });

  it('declines, refuses and is closed by name, and knows no reference that it did not give', async () => {
    const declined = await bank.submitClient({ ...CLIENT, lastName: 'Declined' });
    later();
    expect(await bank.readClient(declined.reference)).toMatchObject({ outcome: 'rejected' });
    const open = async (holderName: string, clientReference: string) =>
      bank
        .openAccount({ key: 'a', clientReference, holderName, currency: 'EUR', jurisdiction: 'DE' })
        .catch((error: BankingError) => error.failure);
    expect(await open('Ada Lovelace', declined.reference)).toBe('refused');
    expect(await open('Ada Failing', await approved())).toBe('refused');
    expect(await open('Ada Unavailable', await approved())).toBe('unavailable');
    expect(await open('Ada Lovelace', `${await approved()}0`)).toBe('refused');
    await expect(bank.readAccount(declined.reference)).rejects.toBeInstanceOf(BankingError);
  });
});
