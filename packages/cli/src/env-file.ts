/** Names and values, quoted or up to a remark; a quoted one may have several lines. */
const VARIABLE =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:'([^']*)'|"([^"]*)"|`([^`]*)`|([^#\r\n]*))/gm;

/** What a file of variables sets, read as Node does: its `parseEnv` came with 20.12. */
export function readVariables(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = '', single, double, back, bare = ''] of text.matchAll(VARIABLE)) {
    found[name] = single ?? double?.replaceAll('\\n', '\n') ?? back ?? bare.trim();
  }
  return found;
}
