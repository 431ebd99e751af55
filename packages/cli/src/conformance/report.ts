import type { Paint } from '../output.ts';
import { type ExpectedFailure, type Stale, staleEntries } from './expected-failures.ts';
import { partOf } from './requirements.ts';
import type { CheckResult, Outcome } from './run.ts';

export interface ReportedCheck {
  readonly id: string;
  readonly level: 'MUST' | 'SHOULD';
  readonly text: string;
  readonly outcome: Outcome;
  readonly reason: string | null;
  /** The section of the guide that says how it is done. */
  readonly guide: string;
  readonly ms: number;
  /** Set where the miss is on the list of expected failures. */
  readonly expected_until: string | null;
}

interface Tally {
  readonly passed: number;
  readonly of: number;
  /** Rounded down: 100 means all of them. */
  readonly percent: number;
}

export interface Report {
  readonly api_version: string;
  readonly webhook: string | null;
  readonly driver: string | null;
  readonly verdict: 'conformant' | 'not_conformant' | 'fault';
  readonly score: Tally & { readonly must: Tally; readonly should: Tally };
  readonly checks: readonly ReportedCheck[];
  readonly stale_expectations: readonly Stale[];
}

export interface ReportInput {
  readonly apiVersion: string;
  readonly webhook: string | null;
  readonly driver: string | null;
  readonly results: readonly CheckResult[];
  readonly expected: readonly ExpectedFailure[];
  readonly today: string;
  /** The deployment whose /docs the links lead to; without one they are paths. */
  readonly docsBase: string;
}

export function reportOf(input: ReportInput): Report {
  const { results, expected, today, docsBase } = input;
  const stale = staleEntries(expected, results, today);
  const allowed = new Map(
    expected.filter(({ expires }) => expires >= today).map((entry) => [entry.id, entry]),
  );
  const checks = results.map(({ requirement, outcome, reason, ms }): ReportedCheck => {
    const until = outcome === 'missed' ? allowed.get(requirement.id)?.expires : undefined;
    return {
      ...{
        id: requirement.id,
        level: requirement.level,
        text: requirement.text,
        outcome,
        reason: reason ?? null,
      },
      ...{ guide: `${docsBase}/docs/guides/${requirement.guide}`, ms, expected_until: until ?? null },
    };
  });
  const isFailed = stale.length > 0 || checks.some(isFailure);
  const isFaulty = checks.some(({ outcome }) => outcome === 'fault');
  return {
    api_version: input.apiVersion,
    webhook: input.webhook,
    driver: input.driver,
    verdict: isFailed ? 'not_conformant' : isFaulty ? 'fault' : 'conformant',
    score: {
      ...tally(checks),
      must: tally(checks.filter(({ level }) => level === 'MUST')),
      should: tally(checks.filter(({ level }) => level === 'SHOULD')),
    },
    checks,
    stale_expectations: stale,
  };
}

/** A miss that fails the run. */
function isFailure({ level, outcome, expected_until: until }: ReportedCheck): boolean {
  return outcome === 'missed' && level === 'MUST' && until === null;
}

function tally(checks: readonly ReportedCheck[]): Tally {
  const counted = checks.filter(({ outcome }) => outcome === 'passed' || outcome === 'missed');
  const passed = counted.filter(({ outcome }) => outcome === 'passed').length;
  const percent = counted.length === 0 ? 0 : Math.floor((passed * 100) / counted.length);
  return { passed, of: counted.length, percent };
}

export function renderReport({ checks, score, stale_expectations: stale }: Report, paint: Paint): string {
  const of = (outcome: Outcome) => checks.filter((check) => check.outcome === outcome);
  const missed = of('missed').flatMap((check) => {
    const mark = isFailure(check) ? paint('red', 'MISS') : paint('yellow', 'WARN');
    const until = check.expected_until === null ? '' : ` (expected until ${check.expected_until})`;
    return [
      `${mark}  ${paint('bold', check.id)}  ${check.level}${until}`,
      `      ${check.text}`,
      `      ${check.reason}`,
      `      ${paint('dim', check.guide)}`,
    ];
  });
  const faults = of('fault').map(({ id, reason }) => `${paint('magenta', 'FAULT')} ${id}  ${reason}`);
  const unseen = new Map<string, number>();
  for (const { reason } of of('not_observable')) unseen.set(`${reason}`, (unseen.get(`${reason}`) ?? 0) + 1);
  const apart = [...unseen].map(([reason, count]) => paint('dim', `not observable: ${count} (${reason})`));
  const staleLines = stale.map(({ id, message }) => `${paint('red', 'STALE')} ${id} ${message}`);
  const { must, should } = score;
  return [
    ...missed,
    ...faults,
    ...staleLines,
    ...apart,
    `${paint('bold', `${score.percent} %`)}  MUST ${must.passed} of ${must.of}, SHOULD ${should.passed} of ${should.of}`,
  ].join('\n');
}

/** As CI systems read it: MUST misses fail, SHOULD misses pass with a warning, faults are errors. */
export function renderJUnit({ checks, stale_expectations: stale, score }: Report): string {
  const cases = checks.map((check) => {
    const { id, ms, reason, guide, outcome, level, text, expected_until: until } = check;
    const open = `    <testcase classname="causeway.${partOf(check)}" name="${xml(id)}" time="${(ms / 1_000).toFixed(3)}">`;
    const full = xml(`${text}\n${reason ?? ''}\n${guide}`);
    const inner = {
      passed: '',
      not_observable: `<skipped message="${xml(`not observable: ${reason}`)}"/>`,
      fault: `<error type="harness" message="${xml(`${reason}`)}"/>`,
      missed: isFailure(check)
        ? `<failure type="${level}" message="${xml(`${reason}`)}">${full}</failure>`
        : until === null
          ? `<system-out>${xml('warning: ')}${full}</system-out>`
          : `<skipped message="${xml(`expected until ${until}: ${reason}`)}"/>`,
    }[outcome];
    return `${open}${inner}</testcase>`;
  });
  const stales = stale.map(
    ({ id, message }) =>
      `    <testcase classname="causeway.expected-failures" name="${xml(id)}"><failure type="stale" message="${xml(message)}"/></testcase>`,
  );
  const count = (outcome: (check: ReportedCheck) => boolean) => checks.filter(outcome).length;
  const skipped = count(
    (check) =>
      check.outcome === 'not_observable' || (check.outcome === 'missed' && check.expected_until !== null),
  );
  const numbers = [
    ['tests', checks.length + stale.length],
    ['failures', count(isFailure) + stale.length],
    ['errors', count(({ outcome }) => outcome === 'fault')],
    ['skipped', skipped],
    ['time', (checks.reduce((sum, { ms }) => sum + ms, 0) / 1_000).toFixed(3)],
  ].map(([name, value]) => `${name}="${value}"`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${numbers.join(' ')}>`,
    `  <testsuite name="causeway conformance" ${numbers.join(' ')}>`,
    `    <properties><property name="score" value="${score.percent}"/></properties>`,
    ...cases,
    ...stales,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function xml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write these.
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '·')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
  );
}
