import { invalidFields } from '../../http/errors.ts';

/**
 * Which pages may show the widget, as `frame-ancestors` names them. An origin is scheme, host and port. All subdomains of a
 * domain are written `https://*.shop.example`; the domain itself is not one of them, and a whole top-level domain cannot be
 * named. Outside a sandbox pages are https only.
 */
const MOST_ORIGINS = 50;
const SUBDOMAINS = '*.';
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
/** What is tried out on one’s own machine, on whatever port. */
const ANY_LOCAL_PAGE = ['http://localhost:*', 'http://127.0.0.1:*'];
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The origins in their one spelling, each once; or all that is wrong with them, by their place. */
export function readOrigins(given: readonly string[], sandbox: boolean): string[] {
  const problems: { path: string; message: string }[] = [];
  const origins = given.map((text, index) => {
    const read = readOrigin(text.trim(), sandbox);
    if ('problem' in read) problems.push({ path: `origins.${index}`, message: read.problem });
    return 'origin' in read ? read.origin : '';
  });
  if (given.length > MOST_ORIGINS) {
    problems.push({ path: 'origins', message: `must have at most ${MOST_ORIGINS} entries` });
  }
  if (problems.length > 0) throw invalidFields(problems);
  return [...new Set(origins)];
}

type ReadOrigin = { readonly origin: string } | { readonly problem: string };

function readOrigin(text: string, sandbox: boolean): ReadOrigin {
  const wildcard = /^([a-z]+:\/\/)\*\.(.+)$/i.exec(text);
  const plain = wildcard === null ? text : `${wildcard[1]}${wildcard[2]}`;
  // What the parser would mend (a backslash, a tab, a second scheme) is not what was meant.
  if (!/^[\x21-\x7e]+$/.test(plain) || /[*\\]/.test(plain) || !URL.canParse(plain)) {
    return { problem: 'is not an origin such as https://shop.example' };
  }
  const { protocol, hostname, host, pathname, search, hash, username, password } = new URL(plain);
  const isLoopback = LOOPBACK.includes(hostname) || hostname.endsWith('.localhost');
  const isLocal = sandbox && protocol === 'http:' && isLoopback;
  if (protocol !== 'https:' && !isLocal) return { problem: 'must begin with https://' };
  const hasMore = [search, hash, username, password].some((part) => part !== '') || /[?#]$/.test(plain);
  if (pathname !== '/' || hasMore) return { problem: 'must have no path, query or user' };
  if (!isHost(hostname)) return { problem: 'must name a host' };
  if (wildcard === null) return { origin: `${protocol}//${host}` };
  // *.com would be every shop there is.
  if (isLocal || hostname.split('.').length < 2 || /^[0-9.]+$/.test(hostname) || hostname.startsWith('[')) {
    return { problem: 'may have a * only before a domain, as in https://*.shop.example' };
  }
  return { origin: `${protocol}//${SUBDOMAINS}${host}` };
}

function isHost(hostname: string): boolean {
  return hostname.startsWith('[') || hostname.split('.').every((label) => LABEL.test(label));
}

/** The console shows a preview, and a sandbox its playground, by whatever name the service is reached. */
const OWN_PAGES = "'self'";

/** The sources of a CSP’s frame-ancestors. Without an origin no page of anybody else may show it. */
export function frameAncestors(origins: readonly string[], sandbox: boolean): string {
  return [...origins, ...(sandbox ? ANY_LOCAL_PAGE : []), OWN_PAGES].join(' ');
}
