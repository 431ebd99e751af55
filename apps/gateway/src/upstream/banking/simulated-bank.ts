import { createHmac } from 'node:crypto';
import { testOutcomeOf, testOutcomeOfAmount } from '@causeway/protocol';
import {
  type BankClient,
  BankingError,
  type BankingPort,
  type BankTransfer,
  type ClientDecision,
  type IncomingPayment,
} from '../../ports/banking.ts';
import type { BankRecord } from './bank-record.store.ts';

/** How accounts are numbered where the simulated bank opens them: what stands before the account, and how long that is. */
interface Numbering {
  readonly bank: string;
  readonly accountDigits: number;
  readonly bic: string;
}

/** The bank has a code of its own everywhere; none of them is a real bank's. */
export const NUMBERING: Readonly<Record<string, Numbering>> = {
  DE: { bank: '99940000', accountDigits: 10, bic: 'CSWYDEFFXXX' },
  NL: { bank: 'CSWY', accountDigits: 10, bic: 'CSWYNL2AXXX' },
  IE: { bank: 'CSWY999400', accountDigits: 8, bic: 'CSWYIE2DXXX' },
  LT: { bank: '99940', accountDigits: 11, bic: 'CSWYLT2XXXX' },
  GB: { bank: 'CSWY999400', accountDigits: 8, bic: 'CSWYGB2LXXX' },
};

/** An IBAN with the check digits of ISO 13616: the same number always gives the same one. */
export function ibanOf(country: string, number: bigint): string {
  const numbering = NUMBERING[country];
  if (numbering === undefined) throw new RangeError(`the simulated bank opens nothing in ${country}`);
  const { bank, accountDigits } = numbering;
  const account = (number % 10n ** BigInt(accountDigits)).toString().padStart(accountDigits, '0');
  const bban = bank + (country === 'NL' ? elevenProof(account) : account);
  const rest = Number(BigInt(digitsOf(`${bban}${country}00`)) % 97n);
  return `${country}${String(98 - rest).padStart(2, '0')}${bban}`;
}

/** Letters count from 10 on. */
function digitsOf(text: string): string {
  return [...text].map((character) => Number.parseInt(character, 36).toString()).join('');
}

/** The Netherlands: the weighted sum of the ten digits is a multiple of eleven. The next number up that fulfils it. */
function elevenProof(account: string): string {
  for (let number = BigInt(account); ; number++) {
    const digits = (number % 10n ** 10n).toString().padStart(10, '0');
    const sum = [...digits].reduce((total, digit, place) => total + Number(digit) * (10 - place), 0);
    if (sum % 11 === 0) return digits;
  }
}

export interface SimulatedBankOptions {
  /** Business time, epoch milliseconds: moving the sandbox clock lets the bank get on. */
  readonly now: () => number;
  /** Equal in every process of a sandbox, so that each reads the references that another wrote. */
  readonly secret: string;
  /** What came in, the same in every process of a sandbox. */
  readonly record: BankRecord;
}

export interface SimulatedBank extends BankingPort {
  /** An account was paid into: the bank reports it from now on. */
  receive(payment: IncomingPayment): Promise<void>;
}

/** Of every currency that the bank has. */
const MINOR_UNITS = 2;
const THINKING_MS = 150;
const BANK_NAME = 'Causeway Sandbox Bank';
const PAGE = 100;
const REMEMBERED_PAYMENTS = 1_000;

/**
 * A bank that never leaves the deployment and still takes its time. A decision is written in its reference, signed, so that
 * it can be read after a restart and by another process; an account's number follows from its reference.
 */
export function createSimulatedBank({ now, secret, record }: SimulatedBankOptions): SimulatedBank {
  /** Who paid, and with what words: in this process alone, because nothing personal is kept in the record. */
  const received = new Map<string, IncomingPayment>();
  const digest = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  const refer = (kind: string, key: string, answer: string) => {
    const content = [kind, digest(key).slice(0, 24), answer, now() + THINKING_MS].join('.');
    return { reference: `${content}.${digest(content).slice(0, 16)}` };
  };
  /** What the bank has decided; asked for of what it has reported, which stands whatever the clock says. */
  const decided = (kind: string, reference: string) => {
    const [named, , answer = '', readyAt, signature] = reference.split('.');
    const content = reference.slice(0, reference.lastIndexOf('.'));
    if (named !== kind || signature !== digest(content).slice(0, 16)) {
      throw new BankingError('refused', `the bank does not know this ${kind}`);
    }
    return { answer, readyAt: Number(readyAt) };
  };
  /** What a reference says, or null while it is too early to say. */
  const read = (kind: string, reference: string): string | null => {
    const { answer, readyAt } = decided(kind, reference);
    const leftMs = readyAt - now();
    // The bank never takes longer than that: the clock was put back since.
    return leftMs > 0 && leftMs <= THINKING_MS ? null : answer;
  };

  return {
    offered: [
      { currency: 'EUR', jurisdictions: ['DE', 'NL', 'IE', 'LT'] },
      { currency: 'GBP', jurisdictions: ['GB'] },
    ],

    async submitClient(client: BankClient) {
      const isDeclined =
        testOutcomeOf('bank_client_last_name', (value) => value === client.lastName) === 'client_rejected';
      return refer('client', client.key, isDeclined ? 'rejected' : 'approved');
    },

    async readClient(reference): Promise<ClientDecision | null> {
      const answer = read('client', reference);
      if (answer === null) return null;
      return answer === 'approved'
        ? { outcome: 'approved' }
        : { outcome: 'rejected', reasons: ['IDENTITY_NOT_ACCEPTED'] };
    },

    async openAccount({ key, clientReference, holderName, jurisdiction }) {
      if (decided('client', clientReference).answer !== 'approved') {
        throw new BankingError('refused', 'the client is not approved');
      }
      const asked = testOutcomeOf('bank_client_last_name', (value) => holderName.endsWith(` ${value}`));
      if (asked === 'bank_closed') throw new BankingError('unavailable', 'the bank is closed');
      if (asked === 'account_refused') {
        throw new BankingError('refused', 'the bank does not open this account');
      }
      return refer('account', key, jurisdiction);
    },

    async readAccount(reference) {
      const country = read('account', reference);
      if (country === null) return null;
      const [, key = ''] = reference.split('.');
      return {
        iban: ibanOf(country, BigInt(`0x${digest(`number:${key}`).slice(0, 16)}`)),
        bic: NUMBERING[country]?.bic ?? '',
        bankName: BANK_NAME,
      };
    },

    async transfer({ key, fromAccount, amount }: BankTransfer) {
      // Only an account that is open has money on it.
      decided('account', fromAccount);
      if (testOutcomeOfAmount('bank_transfer_amount', { atomic: amount, decimals: MINOR_UNITS })) {
        throw new BankingError('refused', 'the bank refuses this transfer');
      }
      return refer('transfer', key, 'done');
    },

    async paymentsAfter(cursor) {
      const page = await record.after(cursor, PAGE);
      return {
        payments: page.map(({ payment }) => received.get(payment.transactionId) ?? payment),
        cursor: page.at(-1)?.position ?? cursor,
      };
    },

    readPayment: async (transactionId) => (await record.find(transactionId))?.payment ?? null,

    async receive(payment) {
      received.set(payment.transactionId, payment);
      const [oldest] = received.keys();
      if (received.size > REMEMBERED_PAYMENTS && oldest !== undefined) received.delete(oldest);
      await record.add(payment);
    },
  };
}
