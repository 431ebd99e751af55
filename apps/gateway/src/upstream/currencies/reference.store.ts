import { statement } from '../../db/statement.ts';

/** All SQL of the reference data. */
export interface ReferenceRow {
  kind: string;
  id: string;
  data: Record<string, unknown>;
}

export interface ReferenceRecordRow extends ReferenceRow {
  source: 'files' | 'operator';
  updated_at: Date;
}

export const allReferenceRecords = statement<[], ReferenceRow>(
  'reference.all',
  'SELECT kind, id, data FROM reference_records ORDER BY kind, position, id',
);

export const referenceRecordsOfKind = statement<
  [
    kind: string,
    search: string | null,
    live: boolean | null,
    rail: string | null,
    country: string | null,
    limit: number,
    offset: number,
  ],
  ReferenceRecordRow & { total: string }
>(
  'reference.of_kind',
  `SELECT kind, id, data, source, updated_at, count(*) OVER ()::text AS total
     FROM reference_records WHERE kind = $1
      AND ($2::text IS NULL
           OR position(lower($2) IN lower(concat_ws(' ', id, data ->> 'name', data ->> 'code', data ->> 'ticker'))) > 0)
      AND ($3::boolean IS NULL OR coalesce((data ->> 'live')::boolean, true) = $3)
      AND ($4::text IS NULL OR data -> 'supportedRails' ? $4)
      AND ($5::text IS NULL OR data -> 'countries' ? $5)
    ORDER BY position, id LIMIT $6 OFFSET $7`,
);

export const referenceRecord = statement<[kind: string, id: string], ReferenceRecordRow>(
  'reference.one',
  'SELECT kind, id, data, source, updated_at FROM reference_records WHERE kind = $1 AND id = $2',
);

// One change at a time: each is judged by the whole it would become part of.
export const lockReference = statement<[]>(
  'reference.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('causeway.reference', 0))`,
);

export const putReferenceRecord = statement<
  [kind: string, id: string, data: string, at: Date, operatorKeyId: string]
>(
  'reference.put',
  `INSERT INTO reference_records (kind, id, position, data, source, updated_at, updated_by)
   VALUES ($1, $2, (SELECT coalesce(max(position), 0) + 1 FROM reference_records WHERE kind = $1), $3::jsonb,
           'operator', $4, $5)
   ON CONFLICT (kind, id) DO UPDATE SET data = excluded.data, source = excluded.source,
     updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
);

/** Rows of the files come in or are brought up to date, unless an operator has taken them over. */
export const seedReferenceRecords = statement<
  [
    kinds: readonly string[],
    ids: readonly string[],
    positions: readonly number[],
    data: readonly string[],
    at: Date,
  ]
>(
  'reference.seed',
  `INSERT INTO reference_records AS r (kind, id, position, data, source, updated_at)
   SELECT kind, id, position, data::jsonb, 'files', $5
     FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[]) AS file (kind, id, position, data)
   ON CONFLICT (kind, id) DO UPDATE SET data = excluded.data, position = excluded.position,
     updated_at = excluded.updated_at
   WHERE r.source = 'files' AND (r.data <> excluded.data OR r.position <> excluded.position)`,
);

export const removeUnseededRecords = statement<[kinds: readonly string[], ids: readonly string[]]>(
  'reference.remove_unseeded',
  `DELETE FROM reference_records r
    WHERE source = 'files' AND NOT EXISTS (
      SELECT FROM unnest($1::text[], $2::text[]) AS file (kind, id) WHERE file.kind = r.kind AND file.id = r.id)`,
);

/** What is put into a database once and again when it has changed: the reference files, and the sandbox's market. */
export type Seed = 'reference_seed' | 'market_seed';

export const seededDigest = statement<[seed: Seed], { digest: string }>(
  'reference.seeded_digest',
  `SELECT value ->> 'digest' AS digest FROM deployment_facts WHERE name = $1`,
);

export const keepSeededDigest = statement<[seed: Seed, digest: string, at: Date]>(
  'reference.keep_seeded_digest',
  `INSERT INTO deployment_facts (name, value, updated_at)
   VALUES ($1, jsonb_build_object('digest', $2::text), $3)
   ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
);
