import { Type } from 'typebox';
import { KYC_STATUSES } from '../machines/index.ts';
import { literals, Timestamp, Uuid } from './common.ts';

export const KycStatusSchema = literals(KYC_STATUSES);

export const UserSchema = Type.Object({
  id: Uuid,
  email: Type.String(),
  reference_id: Type.Union([Type.String(), Type.Null()]),
  kyc: Type.Object({
    status: KycStatusSchema,
    rejection_reasons: Type.Optional(Type.Array(Type.String())),
    updated_at: Timestamp,
  }),
  created_at: Timestamp,
});
