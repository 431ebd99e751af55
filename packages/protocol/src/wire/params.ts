import { Type } from 'typebox';
import { Uuid } from './common.ts';
import { FiatAccountId } from './fiat-account.ts';

/** What the paths of routes name. */

export const UserParams = Type.Object({ user_uuid: Uuid });
export const DocumentParams = Type.Object({ user_uuid: Uuid, document_id: Uuid });
export const FiatAccountParams = Type.Object({ user_uuid: Uuid, id: FiatAccountId });
export const FiatPaymentParams = Type.Object({ payment_id: Uuid });
export const RecipientParams = Type.Object({ recipient_id: Uuid });
export const OrderParams = Type.Object({ order_id: Uuid });
export const DepositParams = Type.Object({ deposit_id: Uuid });
export const ProofParams = Type.Object({ proof_id: Uuid });
export const OfferParams = Type.Object({ offer_id: Uuid });
export const PartnerParams = Type.Object({ partner_id: Uuid });
export const PartnerDeliveryParams = Type.Object({ partner_id: Uuid, delivery_id: Uuid });
export const VendorParams = Type.Object({ vendor_id: Uuid });
export const KeyParams = Type.Object({ key_id: Uuid });
export const ScreeningCaseParams = Type.Object({ case_id: Uuid });
export const EffectParams = Type.Object({ effect_id: Uuid });
export const DeliveryParams = Type.Object({ id: Uuid });
export const WebhookEndpointParams = Type.Object({ endpoint_id: Uuid });
export const EndpointDeliveryParams = Type.Object({ endpoint_id: Uuid, delivery_id: Uuid });
/** A partner has one default webhook, so that any id names it. */
export const WebhookParams = Type.Object({ id: Type.String({ maxLength: 512 }) });
export const ApprovalParams = Type.Object({ approval_id: Uuid });
/** Of a widget, or of the console. */
export const SessionParams = Type.Object({ session_id: Uuid });
