/**
 * Routes of the console itself, by operation: the server declares them from here, the pages call them and the invariants go
 * through them. They are no part of the API that partners integrate, so its description does not show them.
 */
export const CONSOLE_ROUTES = {
  getConsoleOptions: 'GET /api/v1/console/options',
  signInToConsole: 'POST /api/v1/console/sign-in',
  signInToSandboxConsole: 'POST /api/v1/console/sandbox-sign-in',
  getConsoleSession: 'GET /api/v1/console/session',
  signOutOfConsole: 'POST /api/v1/console/sign-out',
  // Signing in, beyond the password
  completeConsoleSignIn: 'POST /api/v1/console/sign-in/totp',
  beginPasskeySignIn: 'POST /api/v1/console/sign-in/passkey-options',
  signInWithPasskey: 'POST /api/v1/console/sign-in/passkey',
  readInvitation: 'POST /api/v1/console/invitation',
  acceptInvitation: 'POST /api/v1/console/invitation/accept',
  // The own account
  getOwnAccount: 'GET /api/v1/console/account',
  changeOwnName: 'PATCH /api/v1/console/account',
  changeOwnPassword: 'POST /api/v1/console/account/password',
  beginTotp: 'POST /api/v1/console/account/totp',
  confirmTotp: 'POST /api/v1/console/account/totp/confirm',
  disableTotp: 'POST /api/v1/console/account/totp/disable',
  renewRecoveryCodes: 'POST /api/v1/console/account/recovery-codes',
  beginPasskey: 'POST /api/v1/console/account/passkey-options',
  addPasskey: 'POST /api/v1/console/account/passkeys',
  renamePasskey: 'PATCH /api/v1/console/account/passkeys/{passkey_id}',
  deletePasskey: 'DELETE /api/v1/console/account/passkeys/{passkey_id}',
  listOwnSessions: 'GET /api/v1/console/sessions',
  endOwnSession: 'DELETE /api/v1/console/sessions/{session_id}',
  endOtherSessions: 'POST /api/v1/console/sessions/end-others',
  // The team of the desk, and what it did
  getTeam: 'GET /api/v1/console/team',
  inviteToTeam: 'POST /api/v1/console/team/invitations',
  withdrawTeamInvitation: 'DELETE /api/v1/console/team/invitations/{invitation_id}',
  changeTeamMember: 'PATCH /api/v1/console/team/{user_id}',
  resetMemberSecondFactor: 'POST /api/v1/console/team/{user_id}/reset-second-factor',
  endMemberSessions: 'POST /api/v1/console/team/{user_id}/end-sessions',
  listConsoleActivity: 'GET /api/v1/console/activity',
  listOwnKeys: 'GET /api/v1/console/keys',
  createOwnKey: 'POST /api/v1/console/keys',
  rollOwnKey: 'POST /api/v1/console/keys/{key_id}/roll',
  revokeOwnKey: 'DELETE /api/v1/console/keys/{key_id}',
  getOwnWidget: 'GET /api/v1/console/widget',
  setOwnWidgetOrigins: 'PUT /api/v1/console/widget/origins',
  revealCustomer: 'POST /api/v1/console/customers/{user_uuid}/reveal',
  searchConsole: 'GET /api/v1/console/search',
  getSigningTrust: 'GET /api/v1/console/signing-trust',
} as const;

/** Callable without a session. */
export const OPEN_CONSOLE_ROUTES = [
  'getConsoleOptions',
  'signInToConsole',
  'signInToSandboxConsole',
  'completeConsoleSignIn',
  'beginPasskeySignIn',
  'signInWithPasskey',
  'readInvitation',
  'acceptInvitation',
] as const satisfies readonly (keyof typeof CONSOLE_ROUTES)[];
