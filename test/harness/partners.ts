import type pg from 'pg';

/** A partner as the operator would have made it; the owner's connection writes it. */
export async function insertPartner(
  owner: pg.Client,
  partnerId: string,
  options: { webhookEnabled?: boolean; webhookUrl?: string } = {},
): Promise<void> {
  const { webhookEnabled = false, webhookUrl = 'https://hooks.example' } = options;
  await owner.query(
    `INSERT INTO partners (partner_id, name, settlement_chain, wallet_address, platform_fee_pct, webhook_url,
                           webhook_enabled, webhook_secret_sealed, created_at)
     VALUES ($1, $2, 'base-mainnet', '0x' || repeat('1', 40), 0, $3, $4, 'sealed', clock_timestamp())`,
    [partnerId, `partner ${partnerId}`, webhookUrl, webhookEnabled],
  );
}
