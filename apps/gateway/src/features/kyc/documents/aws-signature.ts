import { createHash, createHmac } from 'node:crypto';

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface SignableRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Uint8Array;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 's3';

/** AWS Signature Version 4 in headers, as every S3-compatible store checks it. */
export function signRequest(
  { method, url, body }: SignableRequest,
  key: SigningKey,
  at: Date,
): Record<string, string> {
  const timestamp = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = timestamp.slice(0, 8);
  const headers: Record<string, string> = {
    host: url.host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': timestamp,
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    url.pathname.split('/').map(encodeSegment).join('/'),
    canonicalQuery(url.searchParams),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${key.region}/${SERVICE}/aws4_request`;
  const toSign = [ALGORITHM, timestamp, scope, sha256(canonical)].join('\n');
  const signingKey = [day, key.region, SERVICE, 'aws4_request'].reduce<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  );
  const signature = createHmac('sha256', signingKey).update(toSign).digest('hex');
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

// S3 signs the path as it is sent, each segment encoded once.
const encodeSegment = (segment: string) =>
  encodeURIComponent(decodeURIComponent(segment)).replace(/[!'()*]/g, percent);
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(
      ([name, value]) =>
        `${encodeSegment(encodeURIComponent(name))}=${encodeSegment(encodeURIComponent(value))}`,
    )
    .sort()
    .join('&');
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
