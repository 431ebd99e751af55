import { once } from 'node:events';
import { createServer } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { Mail } from '../../ports/mail.ts';
import { createSmtpMail } from './smtp-mail.ts';

const MAIL: Mail = {
  partnerId: '',
  to: 'ada@example.com',
  fromName: 'Äcme “Pay”, Ltd',
  subject: '294117 ni msimbo wako — 您的验证码',
  text: 'Msimbo wako ni 294117.\n',
  language: 'sw',
};
const FROM = 'no-reply@ramp.example';

const refused = (responseCode: number) =>
  Object.assign(new Error(`<ada@example.com> is not here`), { responseCode });

describe('e-mails by SMTP', () => {
  const servers: SMTPServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise<void>((done) => server.close(done))));
  });

  /** A real server in this process; what it was sent is in `received`. */
  async function server(options: SMTPServerOptions = {}, host = '127.0.0.1') {
    const received: { from: string; to: string[]; message: string; user: string | undefined }[] = [];
    const running = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'right p@ss' ? done(null, { user: username }) : done(new Error('no')),
      onData: (stream, { envelope, user }, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part) => parts.push(part));
        stream.on('end', () => {
          received.push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            message: Buffer.concat(parts).toString(),
            user,
          });
          done();
        });
      },
      ...options,
    });
    servers.push(running);
    running.on('error', () => {});
    running.listen(0, host);
    await once(running.server, 'listening');
    const { port } = running.server.address() as { port: number };
    return { received, port };
  }

  const send = (url: string) => createSmtpMail({ url, from: FROM }).send(MAIL);

  it('arrive as they were written, from the partner’s name at the deployment’s address', async () => {
    const { received, port } = await server();
    expect(await send(`smtp://bob:right%20p%40ss@127.0.0.1:${port}`)).toEqual({ kind: 'sent' });
    const [mail] = received;
    expect(mail).toMatchObject({ from: FROM, to: ['ada@example.com'], user: 'bob' });
    const headers = mail?.message.split('\r\n\r\n')[0] ?? '';
    expect(headers).toContain('To: ada@example.com');
    expect(headers).toContain('Content-Language: sw');
    expect(headers).toContain('Auto-Submitted: auto-generated');
    expect(headers).toMatch(/^From: =\?UTF-8\?\S+\r\n <no-reply@ramp\.example>\r$/m);
    expect(mail?.message).toContain('Msimbo wako ni 294117.');
  });

  it.each([
    ['a mailbox that does not exist is refused for good', 550, 'refused', 'EENVELOPE 550'],
    ['greylisting is tried again', 451, 'later', 'EENVELOPE 451'],
    ['a full mailbox is tried again', 452, 'later', 'EENVELOPE 452'],
  ])('%s, and the reason does not name it', async (_what, code, kind, reason) => {
    const { port, received } = await server({
      onRcptTo: (_address, _session, done) => done(refused(code)),
    });
    expect(await send(`smtp://127.0.0.1:${port}`)).toEqual({ kind, reason });
    expect(received).toEqual([]);
  });

  it('what the server fails to take is tried again', async () => {
    const { port } = await server({
      onData: (stream, _session, done) => {
        stream.resume().on('end', () => done(refused(554)));
      },
    });
    expect(await send(`smtp://127.0.0.1:${port}`)).toEqual({ kind: 'later', reason: 'EMESSAGE 554' });
  });

  it('a wrong password is tried again: it is ours, and not the customer’s', async () => {
    const { port } = await server();
    expect(await send(`smtp://bob:wrong@127.0.0.1:${port}`)).toEqual({ kind: 'later', reason: 'EAUTH 535' });
  });

  it('a server that is not there is tried again', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    expect(await send(`smtp://127.0.0.1:${port}`)).toEqual({ kind: 'later', reason: 'ESOCKET' });
  });

  it('nothing is sent in clear to a server elsewhere that offers no TLS', async () => {
    // Another address of this machine than those that are known to be it.
    const { port, received } = await server({}, '127.0.0.2');
    expect(await send(`smtp://127.0.0.2:${port}`)).toMatchObject({ kind: 'later' });
    expect(received).toEqual([]);
  });
});
