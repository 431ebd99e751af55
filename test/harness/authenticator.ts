import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** An authenticator in software, as WebAuthn has it: one key, ES256, attestation none. */
export interface Authenticator {
  readonly id: string;
  /** What navigator.credentials.create answers, as JSON. */
  register(options: RegistrationOptions, origin: string, change?: Change): object;
  /** What navigator.credentials.get answers, as JSON; the count goes up each time unless it says. */
  assert(options: AssertionOptions, origin: string, change?: Change): object;
}

interface RegistrationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}
interface AssertionOptions {
  readonly challenge: string;
  readonly rpId: string;
}
interface Change {
  readonly verified?: boolean;
  readonly count?: number;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;

export function createAuthenticator(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const name = id.toString('base64url');
  let count = 0;
  let handle = '';

  function authData(rpId: string, flags: number, at: number, rest: Buffer = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(at);
    return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags]), counter, rest]);
  }
  const flagsOf = (verified = true) => USER_PRESENT | (verified ? USER_VERIFIED : 0);

  return {
    id: name,
    register({ challenge, rp, user }, origin, { verified } = {}) {
      handle = user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const key = coseKey(publicKey.export({ format: 'jwk' }) as { x: string; y: string });
      const data = authData(
        rp.id,
        flagsOf(verified) | HAS_KEY,
        count,
        Buffer.concat([Buffer.alloc(16), length, id, key]),
      );
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0])],
        ...[text('authData'), bytes(data)],
      ]);
      return credential(name, {
        clientDataJSON: clientData('webauthn.create', challenge, origin),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    assert({ challenge, rpId }, origin, change = {}) {
      count = change.count ?? count + 1;
      const data = authData(rpId, flagsOf(change.verified), count);
      const client = clientData('webauthn.get', challenge, origin);
      const signed = Buffer.concat([data, sha256(Buffer.from(client, 'base64url'))]);
      return credential(name, {
        clientDataJSON: client,
        authenticatorData: data.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(privateKey).toString('base64url'),
        userHandle: handle,
      });
    },
  };
}

function credential(id: string, response: object): object {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
}

function clientData(type: string, challenge: string, origin: string): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url');
}

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest();

// CBOR, as much of it as is needed.
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
function bytes(value: Buffer): Buffer {
  // The shortest form, or it is another key when it is encoded again.
  if (value.length < 256) return Buffer.concat([Buffer.from([0x58, value.length]), value]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([Buffer.from([0x59]), length, value]);
}

/** kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), x, y. */
function coseKey({ x, y }: { readonly x: string; readonly y: string }): Buffer {
  return Buffer.concat([
    ...[Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21])],
    ...[bytes(Buffer.from(x, 'base64url')), Buffer.from([0x22]), bytes(Buffer.from(y, 'base64url'))],
  ]);
}
