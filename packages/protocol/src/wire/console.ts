import { Type } from 'typebox';
import { DESKS, ROLES } from '../console/access.ts';
import { literals, Nullable, Timestamp, TimestampInput, Uuid } from './common.ts';
import { KeyLabel, NewKeySchema } from './operator-accounts.ts';
import { CursorPage, CursorQuery } from './paging.ts';
import { WidgetOriginsSchema } from './widget.ts';

/** What the console’s own routes say and hear. */

export const CONSOLE_TAG = 'Console';

const ConsoleEmail = Type.String({ minLength: 3, maxLength: 254, examples: ['ops@example.com'] });
const ConsolePassword = Type.String({ minLength: 1, maxLength: 200 });
/** No control characters, no space at either end. */
const ConsoleName = Type.String({
  minLength: 1,
  maxLength: 120,
  pattern: '^(?! )[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*(?<! )$',
  examples: ['Jane Doe'],
});
const NewPassword = Type.String({
  minLength: 12,
  maxLength: 200,
  description: 'At least 12 characters; not the e-mail address, nor one of the commonest',
});

export const ConsoleSignInInput = Type.Object({ email: ConsoleEmail, password: ConsolePassword });

export const SandboxSignInInput = Type.Object({
  desk: literals(DESKS),
  email: Type.Optional(ConsoleEmail),
});

/** Who is signed in, and all that a page needs to know before it shows anything. */
export const ConsoleSessionSchema = Type.Object({
  user: Type.Object({
    user_id: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: literals(ROLES),
  }),
  desk: literals(DESKS),
  owner: Nullable(
    Type.Object(
      { id: Uuid, name: Type.String() },
      { description: 'The partner or the vendor; null at the operator’s desk' },
    ),
  ),
  csrf_token: Type.String({ description: 'For X-CSRF-Token' }),
  must_add_second_factor: Type.Boolean({
    description: 'Until a second factor is added nothing but the own account can be used',
  }),
  environment: literals(['sandbox', 'production']),
  server_time: Timestamp,
});

/** Before anybody has signed in. */
export const ConsoleOptionsSchema = Type.Object({
  environment: literals(['sandbox', 'production']),
  passkeys: Type.Boolean({ description: 'Whether passkeys can be used at the address the browser came by' }),
  sandbox_accounts: Type.Array(
    Type.Object({
      desk: literals(DESKS),
      email: Type.String(),
      name: Type.String(),
      role: literals(ROLES),
      owner_name: Nullable(Type.String()),
    }),
    { description: 'In a sandbox, on its own machine: who can be entered with one click' },
  ),
});

export const DoneSchema = Type.Object({ done: Type.Literal(true) });

const StepToken = Type.String({ minLength: 1, maxLength: 80, description: 'Short-lived, good once' });

/** The password was right: either somebody is signed in now, or a second step is asked for. */
export const SignInAnswerSchema = Type.Object({
  signed_in: Type.Boolean(),
  second_step: Nullable(
    Type.Object({
      token: Type.String({ description: 'For POST /console/sign-in/totp' }),
      methods: Type.Array(literals(['totp', 'recovery_code', 'passkey']), {
        description: 'passkey: sign in with the passkey in place of the password',
      }),
      expires_at: Timestamp,
    }),
  ),
});

/** A code of the authenticator app, or one of the recovery codes. */
const SecondFactorCode = Type.String({ minLength: 6, maxLength: 40, examples: ['123456'] });

export const SecondStepInput = Type.Object({ token: StepToken, code: SecondFactorCode });

/** What a browser is given for navigator.credentials, and what it gives back: as WebAuthn has them in JSON. */
const WebAuthnJson = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

export const PasskeyOptionsSchema = Type.Object({
  token: Type.String(),
  options: WebAuthnJson,
  expires_at: Timestamp,
});

export const PasskeySignInInput = Type.Object({ token: StepToken, response: WebAuthnJson });

/** Invitations, as somebody sees them who has the link. */
export const InvitationTokenInput = Type.Object({ token: StepToken });

export const OpenInvitationSchema = Type.Object({
  email: Type.String(),
  role: literals(ROLES),
  desk: literals(DESKS),
  owner_name: Nullable(Type.String({ description: 'The partner or the vendor' })),
  expires_at: Timestamp,
});

export const AcceptInvitationInput = Type.Object({
  token: StepToken,
  name: ConsoleName,
  password: NewPassword,
});

/** The own account. */
export const PasskeySchema = Type.Object({
  passkey_id: Type.String(),
  label: Type.String(),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const OwnAccountSchema = Type.Object({
  user_id: Uuid,
  email: Type.String(),
  name: Type.String(),
  role: literals(ROLES),
  has_password: Type.Boolean(),
  password_changed_at: Nullable(Timestamp),
  totp: Type.Object({ enabled_at: Nullable(Timestamp), recovery_codes_left: Type.Integer() }),
  passkeys: Type.Array(PasskeySchema),
  second_factor_required: Type.Boolean({ description: 'The last one cannot be removed' }),
});

export const OwnNameInput = Type.Object({ name: ConsoleName });

export const OwnPasswordInput = Type.Object({ current_password: ConsolePassword, new_password: NewPassword });

/**
 * Who is signed in says so once more: what changes how one signs in needs it, except for 15 minutes after the sign-in where
 * something is only added.
 */
const proof = {
  password: Type.Optional(ConsolePassword),
  code: Type.Optional(SecondFactorCode),
};

export const ReauthenticationInput = Type.Object(proof);

export const TotpEnrolmentSchema = Type.Object({
  token: Type.String({ description: 'For the confirmation' }),
  secret: Type.String({ description: 'Base32, to be typed into the app' }),
  otpauth_url: Type.String({ description: 'To be shown as a QR code' }),
  expires_at: Timestamp,
});

export const TotpConfirmationInput = Type.Object({ token: StepToken, code: SecondFactorCode });

export const RecoveryCodesSchema = Type.Object({
  recovery_codes: Type.Array(Type.String(), { description: 'Ten, each good once; shown this once' }),
});

const PasskeyLabel = Type.String({
  minLength: 1,
  maxLength: 80,
  pattern: '^(?! )[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*(?<! )$',
  examples: ['Laptop'],
});

export const NewPasskeyInput = Type.Object({
  token: StepToken,
  label: PasskeyLabel,
  response: WebAuthnJson,
});

export const PasskeyLabelInput = Type.Object({ label: PasskeyLabel });

export const PasskeyParams = Type.Object({
  passkey_id: Type.String({ minLength: 1, maxLength: 1400, pattern: '^[A-Za-z0-9_-]+$' }),
});

export const ConsoleSessionListSchema = Type.Object({
  sessions: Type.Array(
    Type.Object({
      session_id: Uuid,
      current: Type.Boolean(),
      method: literals(['password', 'totp', 'recovery_code', 'passkey', 'sandbox', 'invitation']),
      network: Nullable(Type.String()),
      user_agent: Nullable(Type.String()),
      created_at: Timestamp,
      seen_at: Timestamp,
      expires_at: Timestamp,
    }),
  ),
});

/** The team of a desk. */
const teamMember = {
  user_id: Uuid,
  email: Type.String(),
  name: Type.String(),
  role: literals(ROLES),
  is_self: Type.Boolean(),
  second_factor: Type.Array(literals(['totp', 'passkey'])),
  created_at: Timestamp,
  last_signed_in_at: Nullable(Timestamp),
  disabled_at: Nullable(Timestamp),
  locked_until: Nullable(Timestamp),
  open_sessions: Type.Integer(),
};

export const TeamMemberSchema = Type.Object(teamMember);

const invitation = {
  invitation_id: Uuid,
  desk: literals(DESKS),
  owner_id: Nullable(Uuid),
  owner_name: Nullable(Type.String({ examples: ['Acme Payments'] })),
  email: Type.String({ examples: ['jane@example.com'] }),
  role: literals(ROLES),
  created_at: Timestamp,
  expires_at: Timestamp,
};

export const InvitationSchema = Type.Object(invitation);

export const TeamSchema = Type.Object({
  members: Type.Array(TeamMemberSchema),
  invitations: Type.Array(InvitationSchema),
});

/** An operator looks at any desk; others always at their own. */
export const TeamQuery = Type.Object({ owner_id: Type.Optional(Uuid) });

export const TeamMemberParams = Type.Object({ user_id: Uuid });

export const TeamMemberPatchInput = Type.Object({
  role: Type.Optional(literals(ROLES)),
  disabled: Type.Optional(Type.Boolean()),
});

export const TeamInvitationInput = Type.Object({ email: ConsoleEmail, role: literals(ROLES) });

export const NewInvitationSchema = Type.Object({
  invitation_id: Uuid,
  url: Type.String({
    description:
      'For the person who is invited, and for nobody else: whoever opens it first signs in. Shown this once',
    examples: ['https://pay.example.com/console/invitation#cw_invite_7GmT…'],
  }),
  expires_at: Timestamp,
  mailed: Type.Boolean({ description: 'Whether it is sent to the address as well' }),
});

export const InvitationParams = Type.Object({ invitation_id: Uuid });

export const WithdrawnInvitationSchema = Type.Object({ invitation_id: invitation.invitation_id });

/** The same for operators’ programs, and into every desk. */
export const OperatorInvitationInput = Type.Object({
  desk: literals(DESKS),
  owner_id: Type.Optional(
    Type.Unsafe<string>({ ...Uuid, description: 'The partner or the vendor; not for the operator’s desk' }),
  ),
  email: ConsoleEmail,
  role: literals(ROLES),
});

export const InvitationListSchema = Type.Object({
  invitations: Type.Array(InvitationSchema),
  pagination: CursorPage,
});

/** What users did, newest first. */
export const ConsoleActivityQuery = Type.Object({
  ...CursorQuery.properties,
  user_id: Type.Optional(Uuid),
  operation: Type.Optional(Type.String({ pattern: '^[A-Za-z_]{1,80}$', examples: ['changeTeamMember'] })),
  from: Type.Optional(TimestampInput('Inclusive')),
  to: Type.Optional(TimestampInput('Exclusive')),
});

export const ConsoleActivitySchema = Type.Object({
  activity: Type.Array(
    Type.Object({
      activity_id: Uuid,
      at: Timestamp,
      user: Nullable(Type.Object({ user_id: Uuid, email: Type.String(), name: Type.String() })),
      desk: literals(DESKS),
      owner_name: Nullable(Type.String()),
      operation: Type.String({
        description:
          'Of the API, or sign_in_password and the like; sign_in_failed and sign_in_locked where refused',
      }),
      path: Nullable(Type.String()),
      status_code: Nullable(Type.Integer({ description: 'Null: not known to have been answered' })),
      network: Nullable(Type.String()),
    }),
  ),
  pagination: CursorPage,
});

/** Longest time that a rolled key still works beside the one that took its place. */
export const MAX_ROLL_GRACE_HOURS = 72;

export const OwnKeyInput = Type.Object({
  kind: Type.Optional(literals(['secret', 'widget'])),
  label: Type.Optional(KeyLabel),
});

export const KeyRollInput = Type.Object({
  grace_hours: Type.Integer({ minimum: 0, maximum: MAX_ROLL_GRACE_HOURS }),
});

export const RolledKeySchema = Type.Object({
  key: NewKeySchema,
  old_key_id: Uuid,
  old_key_ends_at: Timestamp,
});

/** What a partner embeds, and where. */
export const OwnWidgetSchema = Type.Object({
  ...WidgetOriginsSchema.properties,
  base_url: Type.String(),
});

/** What a search by any id can find. */
export const SEARCH_KINDS = [
  'order',
  'quote',
  'customer',
  'recipient',
  'event',
  'delivery',
  'request',
  'key',
  'partner',
  'vendor',
] as const;

export const ConsoleSearchQuery = Type.Object({
  q: Type.String({ minLength: 1, maxLength: 320, description: 'An id, hash, address, e-mail or reference' }),
});

export const ConsoleSearchSchema = Type.Object({
  results: Type.Array(
    Type.Object({
      kind: literals(SEARCH_KINDS),
      id: Type.String(),
      /** What of it was searched for. */
      matched: Type.String({ examples: ['reference'] }),
      /** What it is, for people. */
      label: Type.String(),
      order_id: Nullable(Uuid),
      user_id: Nullable(Uuid),
      endpoint_id: Nullable(Uuid),
    }),
  ),
});

const Contracts = Type.Object({
  forwarder: Type.String(),
  router: Type.String(),
  safeSingleton: Type.String(),
  safeProxyFactory: Type.String(),
  fallbackHandler: Type.String(),
  multiSendCallOnly: Type.String(),
});

export const SigningTrustQuery = Type.Object({
  order_id: Type.Optional(Uuid),
});

/** What everything that a wallet signs is held against, and where people look at transactions. */
export const SigningTrustSchema = Type.Object({
  wallet_address: Nullable(Type.String({ description: 'The partner’s own wallet' })),
  chains: Type.Array(
    Type.Object({
      slug: Type.String(),
      name: Type.String(),
      chain_id: Type.Integer(),
      explorer_url: Nullable(Type.String()),
      service: Type.String({ description: 'The service’s key of every escrow' }),
      treasury: Type.String({ description: 'The one that the order pays, where order_id names one' }),
      contracts: Contracts,
      tokens: Type.Array(
        Type.Object({ code: Type.String(), address: Type.String(), decimals: Type.Integer() }),
      ),
    }),
  ),
});
