/** `https://shop.example`, `https://*.shop.example`, `http://localhost:*` or `'self'`, as frame-ancestors has them. */
const SOURCE = /^(https?):\/\/(\*\.)?([a-z0-9.-]+|\[[0-9a-f:]+\])(?::(\d+|\*))?$/i;

/** Whether a page of this origin may drive the frame: the same list that the browser was given in the policy. */
export function isAllowedOrigin(origin: string, sources: readonly string[], self: string): boolean {
  const asked = SOURCE.exec(origin);
  if (asked === null) return false;
  return sources.some((source) => {
    if (source === "'self'") return origin === self;
    const allowed = SOURCE.exec(source);
    return allowed !== null && fits(asked, allowed);
  });
}

function fits(
  [, askedScheme, , askedHost = '', askedPort]: RegExpExecArray,
  [, scheme, wildcard, host = '', port]: RegExpExecArray,
): boolean {
  const name = askedHost.toLowerCase();
  const isHost =
    wildcard === undefined ? name === host.toLowerCase() : name.endsWith(`.${host.toLowerCase()}`);
  return isHost && askedScheme === scheme?.toLowerCase() && (port === '*' || askedPort === port);
}
