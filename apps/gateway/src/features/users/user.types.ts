import type { KycStatus } from '@causeway/protocol';

/** A customer as it is kept; what is personal of it is sealed. */
export interface UserRow {
  user_id: string;
  partner_id: string;
  reference_id: string | null;
  kyc_status: KycStatus;
  kyc_updated_at: Date;
  rejection_reasons: string[];
  created_at: Date;
  /** Null once the person is forgotten; such a row is not found by any statement of a partner. */
  data_key_sealed: string | null;
  profile_sealed: string | null;
}
