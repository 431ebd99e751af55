import type { OrderAuditTrail } from '@causeway/sdk';
import {
  type Address,
  type EscrowOwners,
  escrowAddress,
  reviewEscrowPayout,
  SigningRefusedError,
} from '@causeway/sdk/signing';
import { SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { type PreparedSignature, SignTypedData } from '../../wallet/signing.tsx';
import { loadSigningTrust, trustFor } from '../../wallet/trust.ts';

export type Purpose = 'release' | 'refund';
type Side = 'seller' | 'buyer';

/**
 * A signature of one of the escrow’s owners, given here with its wallet. What is signed is built from the order and the
 * owners, held against what the service answers, and shown in words; what does not match has no button.
 */
export function OwnerSignature({
  trail,
  purpose,
}: {
  readonly trail: OrderAuditTrail;
  readonly purpose: Purpose;
}) {
  const [side, setSide] = useState<Side>('buyer');
  const [reason, setReason] = useState('');
  const { order } = trail;
  return (
    <Stack gap="sm" data-testid={`owner-signature-${purpose}`}>
      <Text size="sm">
        The escrow pays on two signatures of three; the service adds its own. Choose whose wallet signs here.
      </Text>
      <SegmentedControl
        aria-label="Whose wallet signs"
        value={side}
        onChange={(value) => setSide(value as Side)}
        data={[
          {
            value: 'buyer',
            label: order.direction === 'onramp' ? 'Buyer (partner or customer)' : 'Buyer (vendor)',
          },
          {
            value: 'seller',
            label: order.direction === 'onramp' ? 'Seller (vendor)' : 'Seller (partner or customer)',
          },
        ]}
        data-testid="sign-side"
      />
      <SignTypedData
        queryKey={[order.order_id, purpose, side, order.status]}
        network={order.chain}
        label={purpose === 'release' ? 'Sign the payout' : 'Sign the refund'}
        done="The signature is handed in"
        disabled={reason.trim() === ''}
        testId="owner-sign"
        before={() => (
          <Textarea
            label="Reason"
            description="Kept in the audit log"
            required
            maxLength={500}
            autosize
            minRows={2}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-testid="sign-reason"
          />
        )}
        prepare={() => prepareOwnerPayout(trail, purpose, side)}
        submit={(signature) =>
          api.operator.orders.submitSignature(order.order_id, { purpose, signature, reason: reason.trim() })
        }
      />
    </Stack>
  );
}

async function prepareOwnerPayout(
  { order, funds }: OrderAuditTrail,
  purpose: Purpose,
  side: Side,
): Promise<PreparedSignature> {
  const [parameters, trusted, partner] = await Promise.all([
    api.operator.orders.signingParameters(order.order_id, { purpose }),
    loadSigningTrust(order.order_id),
    api.operator.partners.get(order.partner_id),
  ]);
  if (funds.escrow === null)
    throw new SigningRefusedError('EXPECTATION_MISSING', 'funds.escrow', 'an escrow', null);
  const { owners } = funds.escrow;
  const trust = trustFor(trusted, order.chain, owners[side]);
  if (owners.service.toLowerCase() !== trust.service.toLowerCase())
    throw new SigningRefusedError('OWNER_MISMATCH', 'owners.service', trust.service, owners.service);
  const escrow = escrowAddress(trust.contracts, order.order_id, owners as EscrowOwners);
  const token = trust.tokens[order.crypto_currency];
  const { treasury } = trust;
  if (token === undefined || treasury === undefined)
    throw new SigningRefusedError(
      'EXPECTATION_MISSING',
      'trust',
      'token and treasury',
      order.crypto_currency,
    );
  const atomic = (amount: string) => unitsOf(amount, token.decimals);
  const pay = (to: string, amount: bigint) => ({
    token: token.address as Address,
    to: to as Address,
    amount,
  });
  const deposit = atomic(funds.escrow.expected_amount);
  const [crypto, platform, markup] = [order.crypto_amount, order.platform_fee, order.partner_fee].map(
    atomic,
  ) as [bigint, bigint, bigint];
  const isOnramp = order.direction === 'onramp';
  const own = isOnramp ? owners.buyer : owners.seller;
  // Where a customer’s own wallet takes part, the partner’s fee is paid apart from it.
  const isApart = order.origin === 'widget' && own.toLowerCase() !== partner.wallet_address.toLowerCase();
  const feeWallet = isApart ? partner.wallet_address : own;
  const releases = isOnramp
    ? [
        pay(owners.buyer, crypto - platform - (isApart ? markup : 0n)),
        pay(treasury, platform),
        ...(isApart ? [pay(feeWallet, markup)] : []),
      ]
    : [
        pay(owners.buyer, crypto - platform),
        pay(treasury, platform - (crypto + markup - deposit)),
        pay(feeWallet, markup),
      ];
  const transfers = purpose === 'refund' ? [pay(owners.seller, deposit)] : releases;
  return {
    reviewed: reviewEscrowPayout(parameters, escrow, transfers, trust),
    trust,
    names: {
      [owners.seller]: order.direction === 'onramp' ? 'the vendor' : 'who paid in',
      [owners.buyer]: order.direction === 'onramp' ? 'the buyer' : 'the vendor',
      [treasury]: 'the platform, as its fee',
      ...(isApart ? { [partner.wallet_address]: 'the partner, as its fee' } : {}),
      [escrow]: 'the order’s escrow',
    },
  };
}

/** A decimal amount in the smallest units, without a float on the way. */
function unitsOf(amount: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  if (fraction.length > decimals)
    throw new SigningRefusedError('AMOUNT_MISMATCH', 'amount', `${decimals} decimals`, amount);
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
