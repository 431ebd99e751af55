import type { Database, Scope } from '../../db/database.ts';
import { isUuid } from '../../lib/ids.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import {
  type CurrentRecipientRow,
  countFound,
  countRecipients,
  listRecipients,
  searchRecipients,
} from './recipient.store.ts';
import { identifierToken, searchedNameTokens } from './search-tokens.ts';
import { IDENTIFIER_INDEX, NAME_INDEX } from './write-version.ts';

export interface RecipientFilter {
  readonly search?: string | undefined;
  readonly screening_status?: string | undefined;
  readonly recipient_country?: string | undefined;
  readonly currency?: string | undefined;
  readonly rail?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page of recipients. A search compares keyed hashes: no row is opened to find out whether it matches. */
export async function findRecipients(
  tools: { readonly db: Database; readonly blindIndex: BlindIndex },
  scope: Scope,
  partnerId: string,
  filter: RecipientFilter,
): Promise<{ readonly rows: readonly CurrentRecipientRow[]; readonly total: number }> {
  const { search, limit, offset } = filter;
  const conditions = [
    partnerId,
    filter.screening_status ?? null,
    filter.recipient_country?.toUpperCase() ?? null,
    filter.currency?.toUpperCase() ?? null,
    filter.rail ?? null,
  ] as const;
  const [rows, [count]] = await tools.db.transaction(scope, (tx) => {
    if (search === undefined) {
      return tx.queryBoth(listRecipients, [...conditions, limit, offset], countRecipients, [...conditions]);
    }
    const wanted = searchedFor(tools.blindIndex, partnerId, search);
    return tx.queryBoth(searchRecipients, [...conditions, ...wanted, limit, offset], countFound, [
      ...conditions,
      ...wanted,
    ]);
  });
  return { rows, total: Number(count?.total ?? 0) };
}

function searchedFor(
  blindIndex: BlindIndex,
  partnerId: string,
  search: string,
): readonly [names: readonly string[], identifier: string | null, recipientId: string | null] {
  const identifier = identifierToken(search);
  return [
    searchedNameTokens(search).map((token) => blindIndex(NAME_INDEX, partnerId, token)),
    identifier === undefined ? null : blindIndex(IDENTIFIER_INDEX, partnerId, identifier),
    isUuid(search.trim()) ? search.trim() : null,
  ];
}
