import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

/**
 * node examples/webhook-receiver.mjs [event type]
 *
 * Receives the webhooks of the sandbox's first partner at http://127.0.0.1:3000 (HOOK_PORT), verifies and prints them. With an
 * event type it ends after the first event of that type, or after a minute.
 */
// biome-ignore lint/style/noProcessEnv: a program of its own.
const { CAUSEWAY_HOME: home = '.causeway', HOOK_PORT: port = '3000' } = process.env;
const sandbox = JSON.parse(await readFile(`${home}/sandbox.json`, 'utf8'));
const secret = sandbox.partners[0].webhook_secret;
const lastType = process.argv[2];
const MAX_AGE_SECONDS = 300;
const PATIENCE_MS = 60_000;
/** Remember them in your database: delivery is at least once. */
const seen = new Set();

/** Over the raw bytes, before any JSON parser touches them. */
function isGenuine(rawBody, headers) {
  const timestamp = String(headers['x-service-timestamp']);
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return false;
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex');
  const expected = Buffer.from(`sha256=${hmac}`);
  const given = Buffer.from(String(headers['x-service-signature']));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isGenuine(rawBody, request.headers)) return response.writeHead(401).end();
  // The answer first, the work afterwards: more than ten seconds count as a failure.
  response.writeHead(204, { connection: 'close' }).end();
  const event = JSON.parse(rawBody.toString());
  if (seen.has(event.event_id)) return;
  seen.add(event.event_id);
  console.log(event.event_type, JSON.stringify(event.data));
  if (event.event_type === lastType) server.close();
});
server.listen(Number(port), '127.0.0.1');
if (lastType !== undefined) setTimeout(() => process.exit(1), PATIENCE_MS).unref();
