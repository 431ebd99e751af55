import type { FuzzCaller } from './callers.ts';

/** Text that must not be where it is found. */
export interface Needle {
  readonly text: string;
  readonly what: string;
  /** A secret is seen by no caller; the rest by none but those it is told to. */
  readonly forbiddenTo: 'everybody' | 'other partners' | 'other partners and vendors';
  /** Ids are in logs on purpose. */
  readonly inLogs: boolean;
  /** The operation that hands it out: a repeat of the same request answers the same. */
  readonly issuedBy?: string;
}

const MOST_ISSUED = 500;
/** Shown once, by the operation that makes it. */
const SHOWN_ONCE = /"(?:key|api_key|secret|token|recovery_code)":"([^"]{20,})"/g;

/** They list what their readers asked for before, ids in paths included, whosever those are. */
const HISTORIES = ['listRequests', 'listVendorRequests', 'listConsoleActivity'];

export interface LeakWatch {
  /** Names of what an answer tells that it must not; what the request itself said may come back. */
  inAnswer(caller: FuzzCaller, operationId: string, sent: string, answer: string): readonly string[];
  inLog(line: string): readonly string[];
  /** Keys and secrets that this answer hands out are secrets from now on. */
  learn(operationId: string, answer: string): void;
  readonly size: number;
}

export function createLeakWatch(needles: readonly Needle[]): LeakWatch {
  const known = [...needles];
  const texts = new Set(known.map(({ text }) => text));
  const asked = { partner: new Set<Needle>(), vendor: new Set<Needle>() };
  let issued = 0;
  const isForbidden = ({ forbiddenTo }: Needle, { seesAll, isVendor }: FuzzCaller) => {
    if (forbiddenTo === 'everybody') return true;
    return !seesAll && (!isVendor || forbiddenTo === 'other partners and vendors');
  };
  return {
    get size() {
      return known.length;
    },
    inAnswer(caller, operationId, sent, answer) {
      const askedBefore = asked[caller.isVendor ? 'vendor' : 'partner'];
      // What an operator asks for is in no history that a partner or a vendor reads.
      if (!caller.seesAll)
        for (const needle of known) if (sent.includes(needle.text)) askedBefore.add(needle);
      const isOwnHistory = (needle: Needle) =>
        HISTORIES.includes(operationId) && needle.forbiddenTo !== 'everybody' && askedBefore.has(needle);
      return known
        .filter(
          (needle) =>
            answer.includes(needle.text) &&
            isForbidden(needle, caller) &&
            needle.issuedBy !== operationId &&
            !sent.includes(needle.text) &&
            !isOwnHistory(needle),
        )
        .map(({ what }) => what);
    },
    inLog: (line) =>
      known.filter(({ inLogs, text }) => inLogs && line.includes(text)).map(({ what }) => what),
    learn(operationId, answer) {
      for (const [, text = ''] of answer.matchAll(SHOWN_ONCE)) {
        if (issued >= MOST_ISSUED || texts.has(text)) continue;
        issued++;
        texts.add(text);
        known.push({
          text,
          what: `a secret that ${operationId} handed out`,
          forbiddenTo: 'everybody',
          inLogs: true,
          issuedBy: operationId,
        });
      }
    },
  };
}
