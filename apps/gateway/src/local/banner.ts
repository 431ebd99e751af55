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
