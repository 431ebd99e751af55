import { lockedDetails } from './details.ts';
import { type ErrorEntry, never } from './error-entry.ts';

/** Errors that only users of the console meet. API keys are not affected by any of them. */
export const CONSOLE_ERRORS = {
  SECOND_FACTOR_REQUIRED: {
    status: 403,
    message: 'Add a second factor to your account first.',
    ...never,
    doc: 'This deployment asks users of the console for a second factor; until one is added only the own account can be used.',
  },
  REAUTHENTICATION_REQUIRED: {
    status: 403,
    message: 'Give your password or a code once more.',
    ...never,
    doc: 'What changes how a user of the console signs in needs the password or a code again, unless the user has just signed in; send it with the request.',
  },
  TEAM_MEMBER_NOT_FOUND: {
    status: 404,
    message: 'There is no such member of the team.',
    ...never,
    doc: 'No such user of the own desk; read the ids from GET /console/team.',
  },
  INVITATION_NOT_FOUND: {
    status: 404,
    message: 'There is no such open invitation.',
    ...never,
    doc: 'No invitation has this id, or it was used, withdrawn or is over; an operator reads the ids from GET /operator/invitations.',
  },
  CONSOLE_SESSION_NOT_FOUND: {
    status: 404,
    message: 'There is no such session.',
    ...never,
    doc: 'No open session of this user has this id; it may have ended meanwhile.',
  },
  PASSKEY_NOT_FOUND: {
    status: 404,
    message: 'There is no such passkey.',
    ...never,
    doc: 'No passkey of this user has this id; read the ids from GET /console/account.',
  },
  LAST_ADMIN: {
    status: 409,
    message: 'A desk keeps at least one admin who can sign in.',
    ...never,
    doc: 'The change would leave the desk without an admin; make another member an admin first. The operator may disable the last admin of a partner or a vendor.',
  },
  OWN_ROLE: {
    status: 409,
    message: 'Another admin has to do this.',
    ...never,
    doc: 'No user changes the own role, nor disables or resets the own account as a member of the team; ask another admin.',
  },
  EMAIL_IN_USE: {
    status: 409,
    message: 'This e-mail address already signs in here.',
    ...never,
    doc: 'An e-mail address is one user of the deployment; invite another address. A member who has forgotten the password is disabled first, and then invited again.',
  },
  LAST_SECOND_FACTOR: {
    status: 409,
    message: 'This deployment asks for a second factor, and this is the last one.',
    ...never,
    doc: 'Add another passkey or an authenticator app first; to change phones, add the new app in place of the old one.',
  },
  SIGN_IN_STEP_EXPIRED: {
    status: 410,
    message: 'This took too long, or was tried too often. Begin again.',
    ...never,
    doc: 'The token of a second step, of a passkey or of an app that is being added is good once, for some minutes and five tries; begin again.',
  },
  INVITATION_EXPIRED: {
    status: 410,
    message: 'This invitation is no longer good. Ask for a new one.',
    ...never,
    doc: 'The link was used, withdrawn, is older than seven days or never was one; ask an admin of the desk for a new one.',
  },
  CREDENTIAL_INVALID: {
    status: 422,
    message: 'The password or the code is not right.',
    ...never,
    doc: 'A user who is signed in gave a wrong password or code; a code of the app is good once, so wait for the next.',
  },
  PASSKEY_INVALID: {
    status: 422,
    message: 'The passkey was not accepted. Try again, or use another device.',
    ...never,
    doc: 'What the browser answered does not fit what was asked for, or the passkey is known already; begin again.',
  },
  SIGN_IN_LOCKED: {
    status: 429,
    message: 'Too many failed attempts. Try again later, or use a passkey.',
    details: lockedDetails,
    retryable: true,
    doc: 'After ten failed attempts an address is locked for 15 minutes, then for twice as long each time, up to a day; it is told for every address, known or not. A passkey still signs in.',
  },
} as const satisfies Record<string, ErrorEntry>;
