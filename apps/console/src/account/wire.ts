import type { Desk, Role } from '@causeway/protocol/console';

/** Answers of the console’s own routes that the pages of this folder read; packages/protocol/src/wire/console.ts has the schemas. */

export interface ConsoleOptions {
  readonly environment: 'sandbox' | 'production';
  readonly passkeys: boolean;
  readonly sandbox_accounts: readonly {
    readonly desk: Desk;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    readonly owner_name: string | null;
  }[];
}

export type SecondStepMethod = 'totp' | 'recovery_code' | 'passkey';

export interface SecondStep {
  readonly token: string;
  readonly methods: readonly SecondStepMethod[];
  readonly expires_at: string;
}

export interface SignInAnswer {
  readonly signed_in: boolean;
  readonly second_step: SecondStep | null;
}

export interface OpenInvitation {
  readonly email: string;
  readonly role: Role;
  readonly desk: Desk;
  readonly owner_name: string | null;
  readonly expires_at: string;
}

export interface Passkey {
  readonly passkey_id: string;
  readonly label: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export interface OwnAccount {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly has_password: boolean;
  readonly password_changed_at: string | null;
  readonly totp: { readonly enabled_at: string | null; readonly recovery_codes_left: number };
  readonly passkeys: readonly Passkey[];
  readonly second_factor_required: boolean;
}

export interface TotpEnrolment {
  readonly token: string;
  readonly secret: string;
  readonly otpauth_url: string;
  readonly expires_at: string;
}

export interface RecoveryCodes {
  readonly recovery_codes: readonly string[];
}

export interface OwnSession {
  readonly session_id: string;
  readonly current: boolean;
  readonly method: 'password' | 'totp' | 'recovery_code' | 'passkey' | 'sandbox' | 'invitation';
  readonly network: string | null;
  readonly user_agent: string | null;
  readonly created_at: string;
  readonly seen_at: string;
  readonly expires_at: string;
}

export interface TeamMember {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly is_self: boolean;
  readonly second_factor: readonly ('totp' | 'passkey')[];
  readonly created_at: string;
  readonly last_signed_in_at: string | null;
  readonly disabled_at: string | null;
  readonly locked_until: string | null;
  readonly open_sessions: number;
}

export interface TeamInvitation {
  readonly invitation_id: string;
  readonly desk: Desk;
  readonly owner_id: string | null;
  readonly owner_name: string | null;
  readonly email: string;
  readonly role: Role;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface TeamAnswer {
  readonly members: readonly TeamMember[];
  readonly invitations: readonly TeamInvitation[];
}

export interface NewInvitation {
  readonly invitation_id: string;
  readonly url: string;
  readonly expires_at: string;
  readonly mailed: boolean;
}

export interface Activity {
  readonly activity_id: string;
  readonly at: string;
  readonly user: { readonly user_id: string; readonly email: string; readonly name: string } | null;
  readonly desk: Desk;
  readonly owner_name: string | null;
  readonly operation: string;
  readonly path: string | null;
  readonly status_code: number | null;
  readonly network: string | null;
}

export interface ActivityPage {
  readonly activity: readonly Activity[];
  readonly pagination: { readonly limit: number; readonly next_cursor: string | null };
}
