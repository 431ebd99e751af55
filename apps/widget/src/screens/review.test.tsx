import { expect, it } from 'vitest';
import { senderFields } from './review.tsx';

it('a customer who lacks what a wallet has to be told learns what the partner has to complete', () => {
  const details = {
    missing_fields: ['phone_number', 'last_name', 'newer_field'],
    kyc_fields: ['phone_number', 'last_name'],
    field_limits: { last_name: 60 },
  };
  expect(senderFields(details)).toEqual(['Phone number', 'Last name (at most 60 characters)', 'newer_field']);
  expect(senderFields(undefined)).toEqual([]);
});
