import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { consoleCall } from '../api/client.ts';
import type { Proof } from './proof.tsx';

/** Loaded where somebody has a passkey, or adds one: the sign-in page does not wait for it. */

interface Challenge<Options> {
  readonly token: string;
  readonly options: Options;
}

/** `offered`: the browser offers passkeys in the field of the e-mail address, and waits there until one is chosen. */
export async function signInWithPasskey({ offered }: { readonly offered: boolean }): Promise<void> {
  const { token, options } =
    await consoleCall<Challenge<PublicKeyCredentialRequestOptionsJSON>>('beginPasskeySignIn');
  const response = await startAuthentication({ optionsJSON: options, useBrowserAutofill: offered });
  await consoleCall('signInWithPasskey', { body: { token, response } });
}

export async function addPasskey(label: string, proof: Proof): Promise<void> {
  const { token, options } = await consoleCall<Challenge<PublicKeyCredentialCreationOptionsJSON>>(
    'beginPasskey',
    { body: proof },
  );
  const response = await startRegistration({ optionsJSON: options });
  await consoleCall('addPasskey', { body: { token, label, response } });
}

/** What the browser’s own refusals mean, in words. Null: somebody closed its dialog, which needs none. */
export function passkeyProblem(error: unknown): Error | null {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'AbortError' || code === 'ERROR_CEREMONY_ABORTED') return null;
  if (name === 'NotAllowedError') {
    return new Error('No passkey was used: the dialog was closed, or it took too long. Try again.');
  }
  if (name === 'InvalidStateError' || code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') {
    return new Error('This device already has a passkey of yours. Use another device.');
  }
  if (code === 'ERROR_INVALID_RP_ID' || code === 'ERROR_INVALID_DOMAIN') {
    return new Error('Passkeys do not work at this address. Open the console by its own name.');
  }
  return error instanceof Error ? error : new Error(String(message ?? error));
}
