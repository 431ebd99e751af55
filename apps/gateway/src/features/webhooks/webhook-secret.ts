/** Where a webhook secret belongs: sealed for this place, it opens nowhere else. */
export function webhookSecretContext(partnerId: string): string {
  return `partners.webhook_secret:${partnerId}`;
}
