import { describe, expect, it } from 'vitest';
import {
  accountLine,
  beneficiariesOf,
  chooseFormat,
  detailsOf,
  formProblems,
  problemFromServer,
  type Rail,
  type RailField,
  railFieldProblem,
  refusedFields,
  usability,
} from './rail-fields.ts';

const NAME: RailField = {
  key: 'full_name',
  label: 'Account holder’s full name',
  type: 'text',
  required: true,
  max_length: 140,
};
const IBAN: RailField = {
  key: 'iban',
  label: 'IBAN',
  type: 'text',
  required: true,
  pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$',
  placeholder: 'DE89370400440532013000',
  max_length: 34,
};
const PHONE: RailField = {
  key: 'phone_number',
  label: 'Mobile number',
  type: 'tel',
  required: true,
  pattern: '^\\+233[0-9]{9}$',
  placeholder: '+233241234567',
  max_length: 13,
};
const RUT: RailField = {
  key: 'rut',
  label: 'RUT',
  type: 'text',
  required: true,
  pattern: '^[0-9]{7,8}-[0-9K]$',
  max_length: 10,
};
const KIND: RailField = {
  key: 'account_type',
  label: 'Account type',
  type: 'select',
  required: true,
  max_length: 20,
  options: [
    { code: 'savings', name: 'Savings account' },
    { code: 'checking', name: 'Checking account' },
  ],
};

const RAIL: Rail = {
  slug: 'a-rail',
  name: 'A rail',
  institution_required: true,
  institution_lookup_key: null,
  currencies: ['GHS'],
  countries: ['GH'],
  directions: ['offramp'],
  settlement: null,
  limits: null,
  fields: [NAME],
};

const format = (
  id: string,
  types: string[],
  fields: RailField[],
  beneficiary?: 'individual' | 'business',
) => ({
  id,
  name: id,
  institution_types: types,
  fields,
  ...(beneficiary === undefined ? {} : { beneficiary_type: beneficiary }),
});

describe('the fields that apply', () => {
  it('are the rail’s own where it has no formats', () => {
    expect(chooseFormat(RAIL, 'individual', '')).toEqual({
      kinds: [],
      fields: [NAME],
      institutionTypes: null,
    });
    expect(beneficiariesOf(RAIL)).toEqual(['individual', 'business']);
  });

  it('are those of the kind of account that was picked', () => {
    const rail = {
      ...RAIL,
      formats: [format('wallet', ['mobile-money'], [PHONE]), format('bank', ['banks'], [IBAN])],
    };
    expect(chooseFormat(rail, 'individual', '')).toMatchObject({ fields: [], institutionTypes: null });
    expect(chooseFormat(rail, 'individual', '').kinds.map(({ id }) => id)).toEqual(['wallet', 'bank']);
    expect(chooseFormat(rail, 'individual', 'bank')).toMatchObject({
      fields: [IBAN],
      institutionTypes: ['banks'],
    });
  });

  it('are those of who is paid, and nothing is picked where one is left', () => {
    const rail = {
      ...RAIL,
      formats: [
        format('person', ['banks'], [NAME], 'individual'),
        format('firm', ['banks'], [IBAN], 'business'),
      ],
    };
    expect(chooseFormat(rail, 'individual', '')).toMatchObject({ kinds: [], fields: [NAME] });
    expect(chooseFormat(rail, 'business', '')).toMatchObject({ kinds: [], fields: [IBAN] });
    expect(beneficiariesOf({ ...rail, formats: rail.formats.slice(0, 1) })).toEqual(['individual']);
  });
});

describe('a value', () => {
  it.each([
    [IBAN, '', 'required'],
    [IBAN, 'DE89 3704 0044 0532 0130 00', undefined],
    [IBAN, 'de89370400440532013000', undefined],
    [IBAN, 'hello', 'malformed'],
    [IBAN, 'DE89 3704 0044 0532 0130 01', 'checkDigit'],
    [IBAN, 'GB82 WEST 1234 5698 7654 32', undefined],
    [IBAN, `DE89${'0'.repeat(40)}`, 'tooLong'],
    [PHONE, '+233 24 123 4567', undefined],
    [PHONE, '024 123 4567', undefined],
    [PHONE, 'call me', 'malformed'],
    [RUT, '12.345.678-5', undefined],
    [RUT, '123456785', undefined],
    [KIND, 'savings', undefined],
    [KIND, 'other', 'invalid'],
    [{ ...NAME, required: false }, '', undefined],
  ] as const)('%o %j: %s', (field, value, problem) => {
    expect(railFieldProblem(field, value)?.kind).toBe(problem);
  });

  it('is needed once of a group', () => {
    const fields = [
      { ...PHONE, required: false },
      { ...NAME, key: 'email', required: false },
    ];
    const groups = [['email', 'phone_number']];
    expect(formProblems(fields, {}, groups)).toEqual({
      email: { kind: 'oneOf', keys: ['email', 'phone_number'] },
    });
    expect(formProblems(fields, { email: 'ada@example.com' }, groups)).toEqual({});
  });
});

describe('what is sent and shown', () => {
  it('has only fields of the rail, and says business only', () => {
    const values = { full_name: ' Ada Lovelace ', iban: '', left_over: 'x' };
    expect(detailsOf([NAME, IBAN], values, 'individual')).toEqual({ full_name: 'Ada Lovelace' });
    expect(detailsOf([NAME], values, 'business')).toEqual({
      full_name: 'Ada Lovelace',
      beneficiary_type: 'business',
    });
  });

  it.each([
    ['is required', 'required'],
    ['is longer than 34 characters', 'tooLong'],
    ['is malformed', 'malformed'],
    ['has a wrong check digit', 'checkDigit'],
    ['has a check digit that does not fit the bank', 'bank'],
    ['is of a country this rail does not serve', 'country'],
    ['is not a phone number of a country this rail serves', 'phone'],
    ['business beneficiaries are not paid over this rail', 'personsOnly'],
    ['one of email, phone_number is required', 'oneOf'],
    ['is something that no version has said yet', 'invalid'],
  ])('the service’s “%s” is %s', (message, kind) => {
    expect(problemFromServer(message).kind).toBe(kind);
  });

  it('finds what the service refused at the fields that it names', () => {
    const fields = [
      { path: 'payment_details.iban', message: 'is malformed' },
      { path: 'payment_details.full_name', message: 'is required' },
      { path: 'payment_details.left_over', message: 'is required' },
    ];
    expect(refusedFields({ fields }, [NAME, IBAN])).toEqual({
      iban: { kind: 'malformed', example: undefined },
      full_name: { kind: 'required' },
    });
    expect(refusedFields({ retry_after: 5 }, [NAME, IBAN])).toEqual({});
  });

  it('names a saved account by its number and holder, never by anything else', () => {
    const details = { full_name: 'A•••', iban: '••••3000', beneficiary_type: 'individual' };
    expect(accountLine({ details })).toBe('••••3000 · A•••');
    expect(accountLine({ details: {} })).toBe('');
  });

  it('lets only an account be used whose holder is clear', () => {
    const of = (screening_status: string) => usability({ screening_status } as never);
    expect(['clear', 'pending', 'review', 'blocked', 'new'].map(of)).toEqual([
      'yes',
      'wait',
      'wait',
      'no',
      'wait',
    ]);
  });
});
