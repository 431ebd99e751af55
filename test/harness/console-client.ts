import { totpCode, totpStep } from '../../apps/gateway/src/lib/totp.ts';
import { type Answer, type CallOptions, call } from './call.ts';

/** A browser as far as the console’s cookie goes: it keeps what it is given and sends it along. */
export interface ConsoleClient {
  cookie: string;
  csrf: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** One of the console’s own routes. */
  post(path: string, body?: object, options?: CallOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Reads who is signed in, and with it the token for what changes something. */
  session(): Promise<Answer>;
  /** As the page does it: with a password, and a code where one is asked for. */
  signIn(email: string, password: string, secret?: string): Promise<Answer>;
}

export function consoleClient(baseUrl: string, cookie = ''): ConsoleClient {
  const client: ConsoleClient = {
    cookie,
    csrf: '',
    async call(method, path, options = {}) {
      const headers = {
        ...(client.cookie === '' ? {} : { cookie: client.cookie }),
        ...(client.csrf === '' ? {} : { 'x-csrf-token': client.csrf }),
        ...options.headers,
      };
      const answer = await call(baseUrl, method, path, { key: null, ...options, headers });
      const [set] = answer.headers.getSetCookie();
      if (set !== undefined) client.cookie = set.split(';', 1)[0] ?? '';
      return answer;
    },
    post: (path, body, options) =>
      client.call('POST', `/api/v1/console${path}`, { ...(body === undefined ? {} : { body }), ...options }),
    get: (path) => client.call('GET', `/api/v1/console${path}`),
    async session() {
      const answer = await client.get('/session');
      client.csrf = answer.body.data?.csrf_token ?? '';
      return answer;
    },
    async signIn(email, password, secret) {
      const first = await client.post('/sign-in', { email, password });
      const token = first.body.data?.second_step?.token;
      const answer =
        secret === undefined || token === undefined
          ? first
          : await client.post('/sign-in/totp', { token, code: nextCode(secret) });
      if (answer.body.data?.signed_in === true) await client.session();
      return answer;
    },
  };
  return client;
}

const used = new Map<string, number>();

/** A code that was not used before: each is good once, and one of the next step is taken early. */
export function nextCode(secret: string): string {
  const now = totpStep(Date.now());
  const step = Math.max(now - 1, (used.get(secret) ?? 0) + 1);
  if (step > now + 1) throw new Error('codes of this secret are used up for half a minute');
  used.set(secret, step);
  return totpCode(secret, step);
}
