import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the functions of api.sh do, with nothing but Node 20. */

/** The shell hands it the keys. */
const env = process.env;
// `fetch` would do. Loading it takes longer than the call, and every line of a shell would wait for that; an import loads it too.
const { request } = createRequire(import.meta.url)('node:http');
const LOOK_AGAIN_MS = 200;
const PATIENCE_SECONDS = 60;

/** An end that says what is wrong, without a stack. */
class Refusal extends Error {}

/** Shell assignments for `eval`: where the sandbox is and which keys it has. */
async function printEnvironment() {
  const home = env.CAUSEWAY_HOME ?? '.causeway';
  const content = await readFile(`${home}/sandbox.json`, 'utf8').catch(() => {
    throw new Refusal(
      `There is no sandbox in ${home}: run npm start in another terminal and wait until it is ready.`,
    );
  });
  const sandbox = JSON.parse(content);
  const assignments = {
    BASE: sandbox.base_url,
    KEY: sandbox.partners[0].api_key,
    OPERATOR_KEY: sandbox.operator_key,
    VENDOR_KEY: sandbox.vendors[0].api_key,
  };
  for (const [name, value] of Object.entries(assignments)) print(`export ${name}='${value}'`);
}

function keyFor(path) {
  if (path.startsWith('/operator')) return env.OPERATOR_KEY;
  return path.startsWith('/vendor') ? env.VENDOR_KEY : env.KEY;
}

/** `name=text` and `name:=json` make the body, `Name: value` is a header, `.name` the field that is wanted of the answer. */
function requestOf(given) {
  const headers = {};
  let body;
  let wanted;
  for (const argument of given) {
    const [, header, headerValue] = /^([\w-]+): (.*)$/s.exec(argument) ?? [];
    const [, name, raw, value] = /^(\w+)(:?)=(.*)$/s.exec(argument) ?? [];
    if (argument.startsWith('.')) wanted = argument.slice(1);
    else if (header !== undefined) headers[header] = headerValue;
    else if (name !== undefined) body = { ...body, [name]: raw === ':' ? JSON.parse(value) : value };
    else throw new Refusal(`${argument} is neither NAME=TEXT, NAME:=JSON, 'HEADER: VALUE' nor .FIELD`);
  }
  return { headers, body, wanted };
}

async function call(method, path, ...given) {
  if (method === undefined || path === undefined)
    throw new Refusal('Usage: api METHOD PATH [NAME=TEXT …] [.FIELD]');
  const { headers, body, wanted } = requestOf(given);
  const { status, answer } = await send(method, `${env.BASE}/api/v1${path}`, body, {
    'x-api-key': keyFor(path) ?? '',
    ...headers,
  });
  if (answer.success) return wanted === undefined ? answer.data : fieldOf(answer.data, wanted);
  throw new Refusal(`${method} ${path}: ${status} ${JSON.stringify(answer.error ?? answer.data)}`);
}

async function send(method, url, body, headers) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = request(url, { method, headers: { ...type, ...headers } });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(sent, 'response').catch(() => {
    throw new Refusal(`Nothing answers at ${env.BASE}: is the sandbox running?`);
  });
  return { status: response.statusCode, answer: JSON.parse(await allOf(response)) };
}

async function allOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** `offers.0.offer_id` of a document, or `offers.side=BUY.offer_id`; undefined where there is none. */
function valueAt(document, name) {
  return name.split('.').reduce((value, part) => {
    const [, key, wanted] = /^(\w+)=(.*)$/.exec(part) ?? [];
    if (key !== undefined) return value?.filter?.((one) => one[key] === wanted);
    return Array.isArray(value) && !/^\d+$/.test(part) ? value[0]?.[part] : value?.[part];
  }, document);
}

function fieldOf(document, name) {
  const value = valueAt(document, name);
  if (value === undefined) throw new Refusal(`There is no field ${name} in ${JSON.stringify(document)}`);
  return value;
}

const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
const print = (line) => process.stdout.write(`${line}\n`);

async function printField(name = '') {
  const input = await allOf(process.stdin);
  // What was piped here has failed and said why.
  if (input === '') throw new Refusal('');
  print(shown(fieldOf(JSON.parse(input), name)));
}

async function waitFor(path, name, wanted, seconds = PATIENCE_SECONDS) {
  if (wanted === undefined) throw new Refusal('Usage: wait_for PATH NAME VALUE [SECONDS]');
  const deadline = performance.now() + Number(seconds) * 1_000;
  for (;;) {
    const value = shown(valueAt(await call('GET', path), name));
    if (value === wanted) return print(value);
    if (performance.now() > deadline) {
      throw new Refusal(`${path}: ${name} is ${value} after ${seconds} seconds, not ${wanted}.`);
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

const COMMANDS = {
  env: printEnvironment,
  call: async (...given) => print(shown(await call(...given))),
  field: printField,
  wait: waitFor,
};

// `api … | head` has read enough.
process.stdout.on('error', () => process.exit(0));

const [command, ...given] = process.argv.slice(2);
try {
  await COMMANDS[command](...given);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  if (error.message !== '') process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
