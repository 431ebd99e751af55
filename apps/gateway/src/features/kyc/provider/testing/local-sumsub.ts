import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly content: Buffer;
}

export interface LocalApplicant {
  readonly id: string;
  readonly levelName: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly files: ReceivedFile[];
  reviewStatus: string;
  reviewResult?: object;
  reviewDate?: string;
}

type Answer = { status: number; body?: unknown; headers?: Record<string, string> };

export interface LocalSumsub {
  readonly baseUrl: string;
  readonly applicants: Map<string, LocalApplicant>;
  /** Method and path of every request, signed rightly or not. */
  readonly calls: string[];
  /** Takes over the next request that `matches`: an answer, or the connection cut after the work was done. */
  interfere(matches: RegExp, instead: Answer | 'cut'): void;
  close(): Promise<void>;
}

export interface LocalSumsubOptions {
  readonly appToken: string;
  readonly secretKey: string;
  readonly unixSeconds: () => number;
  readonly documentsNeeded: number;
}

const MAX_SKEW_SECONDS = 60;

/** A server on loopback that speaks the part of Sumsub's protocol the adapter uses, signatures and conflicts included. */
export async function startLocalSumsub(options: LocalSumsubOptions): Promise<LocalSumsub> {
  const applicants: Applicants = new Map();
  const calls: string[] = [];
  const interferences: { matches: RegExp; instead: Answer | 'cut' }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = `${request.method} ${request.url}`;
    calls.push(call);
    const place = interferences.findIndex(({ matches }) => matches.test(call));
    const instead = place < 0 ? undefined : interferences.splice(place, 1)[0]?.instead;
    const { status, body, headers } =
      instead === undefined || instead === 'cut'
        ? answer(options, applicants, request, Buffer.concat(chunks))
        : instead;
    if (instead === 'cut') return void request.socket.destroy();
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    applicants,
    calls,
    interfere: (matches, instead) => void interferences.push({ matches, instead }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Applicants = Map<string, LocalApplicant>;

function answer(
  options: LocalSumsubOptions,
  applicants: Applicants,
  request: IncomingMessage,
  body: Buffer,
): Answer {
  if (!isSigned(options, request, body))
    return { status: 401, body: { code: 401, errorName: 'app-token-signature-mismatch' } };
  const url = new URL(request.url ?? '', 'http://local');
  if (request.method === 'POST' && url.pathname === '/resources/applicants') {
    return create(applicants, url.searchParams.get('levelName') ?? '', JSON.parse(body.toString()));
  }
  if (request.method === 'POST' && url.pathname === '/resources/sdkIntegrations/levels/-/websdkLink') {
    const { userId } = JSON.parse(body.toString());
    return { status: 200, body: { url: `https://in.example/websdk/p/${userId}` } };
  }
  const path = /^\/resources\/applicants\/([^/]+)\/(.+)$/.exec(url.pathname);
  const [, name = '', rest = ''] = path ?? [];
  const external = /^-;externalUserId=(.+)$/.exec(name)?.[1];
  const applicant =
    external === undefined ? applicants.get(name) : byExternalId(applicants, decodeURIComponent(external));
  return applicant
    ? ofApplicant(options, applicant, rest, request, body)
    : { status: 404, body: { code: 404 } };
}

function isSigned(
  { appToken, secretKey, unixSeconds }: LocalSumsubOptions,
  request: IncomingMessage,
  body: Buffer,
): boolean {
  const { 'x-app-token': token, 'x-app-access-ts': time, 'x-app-access-sig': given } = request.headers;
  if (token !== appToken || typeof time !== 'string' || typeof given !== 'string') return false;
  if (Math.abs(Number(time) - unixSeconds()) > MAX_SKEW_SECONDS) return false;
  const expected = createHmac('sha256', secretKey)
    .update(`${time}${request.method}${request.url}`)
    .update(body)
    .digest('hex');
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

function byExternalId(applicants: Applicants, externalUserId: string): LocalApplicant | undefined {
  return [...applicants.values()].find(({ data }) => data.externalUserId === externalUserId);
}

function create(applicants: Applicants, levelName: string, data: Record<string, unknown>): Answer {
  const known = byExternalId(applicants, String(data.externalUserId));
  if (known)
    return { status: 409, body: { code: 409, description: `Applicant already exists: ${known.id}` } };
  const id = createHmac('sha256', 'applicant').update(String(data.externalUserId)).digest('hex').slice(0, 24);
  applicants.set(id, { id, levelName, data, files: [], reviewStatus: 'init' });
  return {
    status: 201,
    body: { id, externalUserId: data.externalUserId, review: { reviewStatus: 'init' } },
  };
}

function ofApplicant(
  options: LocalSumsubOptions,
  applicant: LocalApplicant,
  rest: string,
  request: IncomingMessage,
  body: Buffer,
): Answer {
  switch (`${request.method} ${rest}`) {
    case 'GET one':
      return { status: 200, body: { id: applicant.id, externalUserId: applicant.data.externalUserId } };
    case 'GET metadata/resources':
      return {
        status: 200,
        body: {
          items: applicant.files.map(({ fileName }) => ({ id: fileName, fileMetadata: { fileName } })),
          totalItems: applicant.files.length,
        },
      };
    case 'POST info/idDoc':
      applicant.files.push(readForm(request.headers['content-type'] ?? '', body));
      return { status: 200, body: { idDocType: 'PASSPORT' } };
    case 'POST status/pending':
      return requestReview(options, applicant);
    case 'GET status': {
      const { reviewStatus, reviewResult, reviewDate } = applicant;
      return {
        status: 200,
        body: { createDate: '2026-01-01 00:00:00+0000', reviewStatus, reviewResult, reviewDate },
      };
    }
    default:
      return { status: 404, body: { code: 404 } };
  }
}

function requestReview({ documentsNeeded }: LocalSumsubOptions, applicant: LocalApplicant): Answer {
  if (applicant.reviewStatus !== 'init')
    return { status: 409, body: { code: 409, errorName: 'applicant-already-pending' } };
  if (applicant.files.length < documentsNeeded) {
    return { status: 409, body: { code: 409, description: 'Not all required documents are submitted' } };
  }
  applicant.reviewStatus = 'pending';
  return { status: 200, body: { ok: 1 } };
}

/** The two parts of the form, read by the boundary as a real server does. */
function readForm(contentType: string, body: Buffer): ReceivedFile {
  const boundary = /boundary=(.+)$/.exec(contentType)?.[1] ?? '';
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  const fields = parts.map((part) => {
    const end = part.indexOf('\r\n\r\n');
    return { head: part.slice(0, end), content: Buffer.from(part.slice(end + 4, -2), 'latin1') };
  });
  const named = (name: string) => fields.find(({ head }) => head.includes(`name="${name}"`));
  const file = named('content');
  return {
    fileName: /filename="([^"]*)"/.exec(file?.head ?? '')?.[1] ?? '',
    contentType: /content-type: (\S+)/i.exec(file?.head ?? '')?.[1] ?? '',
    metadata: JSON.parse(named('metadata')?.content.toString('utf8') ?? '{}'),
    content: file?.content ?? Buffer.alloc(0),
  };
}
