/** A third of the time an order waits for a vendor: three of them can be asked. */
const DEFAULT_SECONDS = 300;

/**
 * How long a vendor that was asked has to answer; null where it may take as long as the order waits. Simulated vendors are
 * silent because they were told to be: unless it is asked for, they keep their orders.
 */
export function vendorResponseSeconds(deployment: {
  readonly config: { readonly orderVendorResponseSeconds?: number | undefined };
  readonly sandbox: boolean;
}): number | null {
  return deployment.config.orderVendorResponseSeconds ?? (deployment.sandbox ? null : DEFAULT_SECONDS);
}
