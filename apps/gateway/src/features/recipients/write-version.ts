import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { versionContext } from './load-recipient.ts';
import { deleteTokens, insertTokens, insertVersion } from './recipient.store.ts';
import type { RecipientData } from './recipient-fields.ts';
import { identifierToken, nameTokens } from './search-tokens.ts';

export interface RecipientTools {
  readonly vaults: Vaults;
  readonly blindIndex: BlindIndex;
}

/** The places of recipients among the blind indexes. */
export const NAME_INDEX = 'recipients.name';
export const IDENTIFIER_INDEX = 'recipients.identifier';

/** Writes what is now known of a recipient, and by what it is found. Earlier versions stay as they are. */
export function writeVersion(
  tools: RecipientTools,
  unit: UnitOfWork,
  vault: Vault,
  recipient: { readonly recipientId: string; readonly partnerId: string; readonly version: number },
  data: RecipientData,
): void {
  const { recipientId, partnerId, version } = recipient;
  const { recipient_country, recipient_id_type, ...fields } = data;
  const sealed = vault.seal(JSON.stringify(fields), versionContext(recipientId, version));
  unit.tx.defer(insertVersion, [
    recipientId,
    version,
    partnerId,
    recipient_country,
    recipient_id_type,
    sealed,
    unit.at,
  ]);
  if (version > 1) unit.tx.defer(deleteTokens, [recipientId, ['name', 'identifier']]);
  const names = nameTokens(data.recipient_name, data.recipient_native_name);
  const nameHashes = names.map((token) => tools.blindIndex(NAME_INDEX, partnerId, token));
  unit.tx.defer(insertTokens, [partnerId, recipientId, 'name', nameHashes]);
  const identifiers = [data.recipient_id_number, data.recipient_business_registration_number];
  const hashes = identifierHashes(tools.blindIndex, partnerId, identifiers);
  if (hashes.length > 0) unit.tx.defer(insertTokens, [partnerId, recipientId, 'identifier', hashes]);
}

export function identifierHashes(
  blindIndex: BlindIndex,
  partnerId: string,
  values: readonly (string | null)[],
): string[] {
  const tokens = values.map((value) => identifierToken(value ?? '')).filter((token) => token !== undefined);
  return [...new Set(tokens)].map((token) => blindIndex(IDENTIFIER_INDEX, partnerId, token));
}
