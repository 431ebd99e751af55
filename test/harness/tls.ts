import { generate } from 'selfsigned';

export interface LoopbackCertificate {
  /** Private key, PEM. */
  readonly key: string;
  /** Certificate, PEM: what a client puts into `ca` to trust servers of this process. */
  readonly cert: string;
}

let cached: Promise<LoopbackCertificate> | undefined;

/** One self-signed certificate for localhost, 127.0.0.1 and ::1, made on first use and kept for the process. */
export function loopbackCertificate(): Promise<LoopbackCertificate> {
  cached ??= makeCertificate();
  return cached;
}

async function makeCertificate(): Promise<LoopbackCertificate> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    // Handshakes with an elliptic curve key cost the tests a fraction of those with RSA.
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}
