import type { TestGateway } from '../harness/gateway.ts';
import { PATIENCE, until } from '../harness/until.ts';
import type { ExampleRun } from './example-run.ts';

const EMAIL = 'ada.at.the.widget@example.com';

/** A customer at the widget: from the publishable key to a verified person, and a session that the partner’s server makes. */
export async function widgetSteps(
  gateway: TestGateway,
  { send }: ExampleRun,
  userUuid: string,
): Promise<void> {
  const { token: key } = await send('startWidgetSession');
  const { sandbox_code: code } = await send('requestWidgetEmailCode', { key });
  // One that is used before its e-mail was sent is not sent any more.
  await until('the code’s e-mail', async () => {
    const { body } = await gateway.partner.sandbox.mailbox({ email: EMAIL });
    return body.data.messages.length > 0;
  });
  await send('identifyInWidgetSession', { key, body: { code } });
  await send('getWidgetSession', { key });
  await send('submitWidgetKyc', { key });
  await send('uploadWidgetKycDocument', { key });
  await send('getWidgetKyc', { key });
  await send('createWidgetPaymentDetails', { key });
  await send('listWidgetPaymentDetails', { key });
  await send('sandboxMailbox', { query: { email: EMAIL } });
  await send('signOutOfWidgetSession', { key });

  for (let links = 1; ; links++) {
    const { session_id, url } = await send('createWidgetSession', { body: { user_uuid: userUuid } });
    const opening = { params: { session_id }, body: { code: new URL(url).hash.slice(1) } };
    const failure = await send('openWidgetSession', opening).catch((error: unknown) => error);
    if (!(failure instanceof Error)) return;
    if (links === MOST_LINKS || !failure.message.includes('404')) throw failure;
  }
}

/** A link opens one session, also where its answer is lost with the process: a careful partner makes another. */
const MOST_LINKS = PATIENCE > 1 ? 5 : 1;
