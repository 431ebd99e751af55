import { createHash } from 'node:crypto';
import type { ReferenceData } from '../catalogue/index.ts';
import type { RateReading } from '../rates/index.ts';

/** The reference data as it is sent: turned into text once, named by its content. */
export interface ReferenceText {
  readonly version: string;
  readonly json: string;
}

export function referenceText(data: ReferenceData): ReferenceText {
  const json = JSON.stringify(data);
  return { version: digest(json), json };
}

export interface SnapshotBody {
  readonly etag: string;
  /** Without the reference data where the caller has this version of it. */
  render(knownReference: string | null): string;
}

export function snapshotBody(reference: ReferenceText, rates: readonly RateReading[]): SnapshotBody {
  const legs = JSON.stringify(
    rates.map(({ base, quote, rate, asOf, sources, status }) => ({
      base,
      quote,
      rate,
      as_of: asOf,
      sources,
      status,
    })),
  );
  return {
    etag: `"${digest(`${reference.version}\n${legs}`)}"`,
    render(knownReference) {
      const data = knownReference === reference.version ? 'null' : reference.json;
      return `{"reference_version":${JSON.stringify(reference.version)},"reference":${data},"legs":${legs}}`;
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
