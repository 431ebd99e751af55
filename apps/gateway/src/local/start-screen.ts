export interface BannerInfo {
  readonly baseUrl: string;
  readonly docsUrl: string;
  readonly metricsUrl?: string;
  readonly partnerName: string;
  readonly partnerApiKey: string;
  readonly operatorKey: string;
  readonly chains: readonly { readonly slug: string; readonly rpcUrl: string }[];
  readonly sandboxFile: string;
}

/** What a newcomer sees once everything runs: where it is, how to get in, what to do next. */
export function renderBanner(info: BannerInfo): string {
  const rows: [string, string][] = [
    ['API', info.baseUrl],
    ['Docs', info.docsUrl],
    ['Console', `${info.baseUrl}/console`],
    ['Widget', `${info.baseUrl}/widget/playground`],
    ...(info.metricsUrl === undefined ? [] : [['Metrics', info.metricsUrl] satisfies [string, string]]),
    ...info.chains.map(({ slug, rpcUrl }): [string, string] => [`Chain ${slug}`, rpcUrl]),
    ['Partner key', `${info.partnerApiKey}  (${info.partnerName})`],
    ['Operator key', info.operatorKey],
    ['All keys', info.sandboxFile],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return [
    '',
    '  Causeway sandbox is ready.',
    '',
    ...rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
    '',
    '  Try it:',
    '',
    `  curl -H 'X-API-Key: ${info.partnerApiKey}' ${info.baseUrl}/api/v1/partner/orders`,
    '',
    '  Ctrl-C stops everything; your data stays for the next start.',
    '',
    '',
  ].join('\n');
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  update(text: string): void;
  /** A line that stays. */
  note(text: string): void;
  /** Clears the line at a terminal, so that what follows stands alone. */
  end(): void;
}

const CLEAR_LINE = '\r\u001b[2K';
const DEFAULT_COLUMNS = 80;

/** One line that changes at a terminal; plain lines in a log, where control characters would be litter. */
export function showProgress(stream: ProgressStream): Progress {
  if (stream.isTTY !== true) {
    const writeLine = (text: string) => void stream.write(`${text}\n`);
    return { update: writeLine, note: writeLine, end: () => undefined };
  }
  return {
    update(text) {
      // A line that wraps could not be cleared any more.
      const room = (stream.columns ?? DEFAULT_COLUMNS) - 3;
      const shown = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text;
      stream.write(`${CLEAR_LINE}  ${shown}`);
    },
    note: (text) => void stream.write(`${CLEAR_LINE}  ${text}\n`),
    end: () => void stream.write(CLEAR_LINE),
  };
}
