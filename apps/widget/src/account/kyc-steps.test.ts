import {
  KYC_DOCUMENT_TYPES,
  KYC_ID_TYPES,
  KYC_STATUSES,
  KycSubmissionInput,
  SOURCES_OF_FUNDS,
} from '@causeway/protocol';
import { describe, expect, it } from 'vitest';
import { ISO_COUNTRIES } from '../../../gateway/src/lib/iso-codes.ts';
import words from '../i18n/messages/en/account.json' with { type: 'json' };
import { COUNTRY_CODES, countryChoices } from './countries.ts';
import {
  ALL_FIELDS,
  FUNDS,
  fieldProblem,
  formSteps,
  ID_TYPES,
  isSlow,
  kycView,
  pollDelay,
  RULES,
  reasonGroups,
  serverProblems,
} from './kyc-steps.ts';

const TODAY = new Date('2026-11-16T12:00:00.000Z');

describe('the status of a verification', () => {
  it('has a view and words, every one', () => {
    const views = KYC_STATUSES.map((status) => [status, kycView(status)]);
    expect(Object.fromEntries(views)).toEqual({
      NOT_INITIATED: 'start',
      PENDING_DOCUMENTS: 'documents',
      IN_PROGRESS: 'wait',
      UNDER_REVIEW: 'wait',
      VERIFIED: 'done',
      VERIFICATION_REJECTED: 'again',
      REJECTED: 'refused',
    });
    for (const status of KYC_STATUSES) {
      expect(words).toHaveProperty([`kyc.status.${status}`]);
      expect(words).toHaveProperty([`kyc.status.${status}.title`]);
    }
  });

  it('that is new to this version is waited out', () => {
    expect(kycView('SOMETHING_NEW')).toBe('wait');
    expect(kycView('toString')).toBe('wait');
  });

  it('is looked up soon at first, then less often, and never faster again', () => {
    for (const status of ['IN_PROGRESS', 'UNDER_REVIEW']) {
      const delays = Array.from({ length: 20 }, (_, looks) => pollDelay(looks, status));
      expect(delays).toEqual(delays.toSorted((left, right) => left - right));
      expect(delays.at(-1)).toBe(isSlow(status) ? 60_000 : 10_000);
    }
    expect(pollDelay(0, 'IN_PROGRESS')).toBe(1_000);
  });

  it('tells each kind of reason once, and says nothing of those that must not be told', () => {
    expect(reasonGroups(['DOCUMENT_UNREADABLE', 'LOW_QUALITY'])).toEqual(['unreadable']);
    expect(reasonGroups(['DOCUMENT_FORGED'])).toEqual(['notGenuine']);
    expect(reasonGroups(['SANCTIONS_MATCH'])).toEqual(['other']);
    expect(reasonGroups(['SANCTIONS_MATCH', 'DOCUMENT_EXPIRED'])).toEqual(['expired']);
    expect(reasonGroups([])).toEqual([]);
  });
});

describe('the form', () => {
  it('asks what the service takes and nothing else, with words for all of it', () => {
    const taken = Object.keys(KycSubmissionInput.properties);
    expect(taken.filter((field) => !ALL_FIELDS.includes(field as never))).toEqual(['method', 'gender']);
    for (const field of ALL_FIELDS) {
      expect(words).toHaveProperty([`kyc.${field}`]);
      for (const choice of RULES[field].choices ?? [])
        expect(words).toHaveProperty([`kyc.${field}.${choice}`]);
    }
    for (const type of KYC_DOCUMENT_TYPES) expect(words).toHaveProperty([`kyc.document.${type}.hint`]);
    expect(ID_TYPES).toEqual(KYC_ID_TYPES);
    expect(FUNDS).toEqual(SOURCES_OF_FUNDS);
  });

  it('leaves out what is known, and pages where all of it is', () => {
    expect(formSteps(ALL_FIELDS).map(({ name }) => name)).toEqual(['person', 'identity', 'address']);
    expect(formSteps(['last_name', 'city'])).toEqual([
      { name: 'person', fields: ['last_name'] },
      { name: 'address', fields: ['city', 'phone_number', 'source_of_funds'] },
    ]);
    expect(formSteps(['gender'])).toEqual([]);
    expect(formSteps([])).toEqual([]);
  });

  it.each([
    ['first_name', ' ', 'required'],
    ['first_name', 'Ada', undefined],
    ['first_name', 'a'.repeat(201), 'tooLong'],
    ['phone_number', '', undefined],
    ['phone_number', 'call me', 'phone'],
    ['phone_number', '+44 20 7946 0958', undefined],
    ['date_of_birth', '1990-12-10', undefined],
    ['date_of_birth', '10.12.1990', 'date'],
    ['date_of_birth', '1990-02-30', 'date'],
    ['date_of_birth', '0090-12-10', 'date'],
    ['date_of_birth', '2027-01-01', 'date'],
    ['date_of_birth', '2008-11-17', 'age'],
    ['date_of_birth', '2008-11-16', undefined],
  ] as const)('%s %j: %s', (field, value, problem) => {
    expect(fieldProblem(field, value, TODAY)).toBe(problem);
  });

  it('lets what is known stay unsaid, but not be said wrongly', () => {
    expect(fieldProblem('city', '', TODAY, true)).toBeUndefined();
    expect(fieldProblem('date_of_birth', '2020-01-01', TODAY, true)).toBe('age');
  });

  it('reads what the service refused, by field', () => {
    const details = {
      fields: [
        { path: 'city', message: 'is required' },
        { path: 'details.iban', message: 'is malformed' },
        null,
        {},
      ],
    };
    expect(serverProblems(details)).toEqual([
      { path: 'city', message: 'is required' },
      { path: 'iban', message: 'is malformed' },
    ]);
    expect(serverProblems(undefined)).toEqual([]);
    expect(serverProblems({ fields: 'no' })).toEqual([]);
  });

  it('knows the countries that the service knows, by name', () => {
    expect(new Set(COUNTRY_CODES)).toEqual(ISO_COUNTRIES);
    expect(countryChoices(['DE', 'AT'])).toEqual([
      { value: 'AT', label: 'Austria' },
      { value: 'DE', label: 'Germany' },
    ]);
  });
});
