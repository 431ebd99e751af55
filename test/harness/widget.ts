import { randomUUID } from 'node:crypto';
import type { Answer, TestGateway } from './gateway.ts';

/** A customer at the widget, as a page with the publishable key would bring it there. */
export interface WidgetCustomer {
  readonly token: string;
  readonly email: string;
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

const WIDGET = '/api/v1/widget';

/** Begins a session, which does not know its customer yet. */
export async function widgetSession(
  gateway: TestGateway,
  input: object = {},
  partner: 0 | 1 = 0,
): Promise<WidgetCustomer> {
  const { widgetKey } = gateway.partners[partner];
  const started = await gateway.call('POST', `${WIDGET}/sessions`, { key: widgetKey, body: input });
  if (started.status !== 200) throw new Error(`no session: ${started.text}`);
  return sessionOf(gateway, started.body.data.token, '');
}

export function sessionOf(gateway: TestGateway, token: string, email: string): WidgetCustomer {
  return {
    token,
    email,
    ask: (method, path, body, headers = {}) =>
      gateway.call(method, `${WIDGET}/session${path}`, {
        key: token,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
  };
}

/** A session whose customer has confirmed its address. */
export async function widgetCustomer(
  gateway: TestGateway,
  email: string = `${randomUUID()}@example.com`,
  partner: 0 | 1 = 0,
): Promise<WidgetCustomer> {
  const session = await widgetSession(gateway, {}, partner);
  const sent = await session.ask('POST', '/email-code', { email });
  const known = await session.ask('POST', '/identify', { email, code: sent.body?.data?.sandbox_code });
  if (known.status !== 200) throw new Error(`not identified: ${sent.text} ${known.text}`);
  return sessionOf(gateway, session.token, email);
}
