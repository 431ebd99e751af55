// Generated from packages/protocol: `npm run docs`.

export interface CodeEntry {
  readonly kind: 'error' | 'error_key' | 'order_failure' | 'order_hold';
  readonly http_status?: number;
  readonly message?: string;
  readonly retryable?: boolean;
  /** When it happens, and what to do about it. */
  readonly doc: string;
}

/** Errors of requests, keys of the supported-resources endpoints, why orders stop and why they are held. */
export const CODES: Readonly<Record<string, CodeEntry>> = {
  "VALIDATION_ERROR": {
    "kind": "error",
    "http_status": 400,
    "message": "The request is not valid.",
    "retryable": false,
    "doc": "The body, query or path does not fit; correct the places listed in details.fields."
  },
  "INVALID_PARTNER_FEE": {
    "kind": "error",
    "http_status": 400,
    "message": "partner_fee_pct leaves nothing to deliver.",
    "retryable": false,
    "doc": "The fees leave no receipt or no payable fiat after rounding, or partner_fee_pct is 100 or more where that is capped; lower it."
  },
  "UNSUPPORTED_CRYPTO_CURRENCY": {
    "kind": "error",
    "http_status": 400,
    "message": "This cryptocurrency is not supported.",
    "retryable": false,
    "doc": "crypto_currency is not a settlement asset; choose one from GET /supported/crypto-currencies."
  },
  "UNSUPPORTED_FIAT_CURRENCY": {
    "kind": "error",
    "http_status": 400,
    "message": "This fiat currency is not supported.",
    "retryable": false,
    "doc": "fiat_currency is not served; choose one from GET /supported/fiat-currencies."
  },
  "INVALID_PROVIDER_SCOPE": {
    "kind": "error",
    "http_status": 400,
    "message": "provider_scope must be all, p2p or direct.",
    "retryable": false,
    "doc": "provider_scope has an unknown value; send all, p2p or direct, or leave it out."
  },
  "AMOUNT_OUT_OF_RANGE": {
    "kind": "error",
    "http_status": 400,
    "message": "The amount is outside the range that can be served.",
    "retryable": false,
    "doc": "The amount is below or above what the rail or the offers take, or rounds to nothing; change the amount."
  },
  "INVALID_ORDER_ID": {
    "kind": "error",
    "http_status": 400,
    "message": "The order id is not a uuid.",
    "retryable": false,
    "doc": "The order id in the path is not a uuid; use the order_id returned by initiate."
  },
  "INVALID_PAYER_DETAILS": {
    "kind": "error",
    "http_status": 400,
    "message": "The payer details are not valid.",
    "retryable": false,
    "doc": "submit-payer-details needs exactly one of payment_details_id and payment_details, fitting the rail; correct the places listed in details.fields."
  },
  "INVALID_FORWARD_REQUEST": {
    "kind": "error",
    "http_status": 400,
    "message": "The forward request differs from the one issued.",
    "retryable": false,
    "doc": "A field of forward_request is not what the authorization parameters gave; read them again, sign and send unchanged."
  },
  "INVALID_DESTINATION": {
    "kind": "error",
    "http_status": 400,
    "message": "The destination is not valid.",
    "retryable": false,
    "doc": "The destination chain is none of details.destination_chains, the address is not an EVM address or its EIP-55 checksum is wrong, or they differ from the parameters call; correct them."
  },
  "INVALID_SIGNATURE": {
    "kind": "error",
    "http_status": 400,
    "message": "The signature is not valid.",
    "retryable": false,
    "doc": "The signature is malformed or was not made by details.expected_signer over the issued data; sign again with that wallet. Where details.recovered_signer is an address you do not know, the data or the chain id differ from what was issued."
  },
  "WEBHOOK_NOT_CONFIGURED": {
    "kind": "error",
    "http_status": 400,
    "message": "No webhook URL is configured.",
    "retryable": false,
    "doc": "A test event was asked for before a webhook URL was set; register one with POST /partner/webhooks."
  },
  "INVALID_WEBHOOK_URL": {
    "kind": "error",
    "http_status": 400,
    "message": "The webhook URL is not acceptable.",
    "retryable": false,
    "doc": "details.cause says what is wrong with it; register a public HTTPS URL without credentials, on port 443 or 8443."
  },
  "invalid_gender": {
    "kind": "error",
    "http_status": 400,
    "message": "gender must be M or F.",
    "retryable": false,
    "doc": "The KYC patch has an unacceptable gender; send M or F. Nothing was written."
  },
  "invalid_country_code": {
    "kind": "error",
    "http_status": 400,
    "message": "The country must be an ISO 3166-1 alpha-2 code.",
    "retryable": false,
    "doc": "The KYC patch has an unacceptable nationality or id_issue_country; send a two-letter code. Nothing was written."
  },
  "invalid_source_of_funds": {
    "kind": "error",
    "http_status": 400,
    "message": "source_of_funds is not an accepted value.",
    "retryable": false,
    "doc": "The KYC patch has an unknown source_of_funds; send one of the listed values. Nothing was written."
  },
  "invalid_field_value": {
    "kind": "error",
    "http_status": 400,
    "message": "A field has an unacceptable value.",
    "retryable": false,
    "doc": "The KYC patch has an object, an array or another unusable value in a field; send plain text. Nothing was written."
  },
  "UNAUTHORIZED": {
    "kind": "error",
    "http_status": 401,
    "message": "The API key is missing or invalid.",
    "retryable": false,
    "doc": "The key is missing, unknown or revoked, or of another class than details.required_key; send a current key of that class in X-API-Key or Authorization: Bearer."
  },
  "SIGN_IN_REQUIRED": {
    "kind": "error",
    "http_status": 401,
    "message": "Sign in first.",
    "retryable": false,
    "doc": "The route belongs to the console and takes the cookie of a session that is still good; sign in again."
  },
  "SIGN_IN_FAILED": {
    "kind": "error",
    "http_status": 401,
    "message": "The e-mail address, the password or the code is not right.",
    "retryable": false,
    "doc": "Nobody is signed in by what was given to the console; which part is wrong is not told."
  },
  "FORBIDDEN": {
    "kind": "error",
    "http_status": 403,
    "message": "Your role does not allow this.",
    "retryable": false,
    "doc": "A user of the console called what the role may not do; an admin of the team can change the role. API keys are not affected."
  },
  "CSRF_TOKEN_INVALID": {
    "kind": "error",
    "http_status": 403,
    "message": "The request does not come from a page of the console.",
    "retryable": false,
    "doc": "A request with the cookie of the console that changes something needs X-CSRF-Token as GET /console/session answers it, from a page of the same origin."
  },
  "FEATURE_NOT_ENABLED": {
    "kind": "error",
    "http_status": 403,
    "message": "This feature is not enabled for your account.",
    "retryable": false,
    "doc": "Fiat-account writes need an entitlement that this partner does not have; ask the operator to enable it."
  },
  "EMAIL_NOT_CONFIRMED": {
    "kind": "error",
    "http_status": 403,
    "message": "Confirm your e-mail address first.",
    "retryable": false,
    "doc": "The widget session does not know its customer yet; POST /widget/session/email-code, then POST /widget/session/identify with the code."
  },
  "USER_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "User not found.",
    "retryable": false,
    "doc": "No such user of this partner; use the id returned by POST /partner/users."
  },
  "QUOTE_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Quote not found.",
    "retryable": false,
    "doc": "No such quote of this partner; create a new one."
  },
  "ORDER_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Order not found.",
    "retryable": false,
    "doc": "No such order of this partner, or a widget order on an action endpoint; act on the partner's own orders only."
  },
  "RECIPIENT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Recipient not found.",
    "retryable": false,
    "doc": "No such recipient of this partner, or it is archived; create it or use another."
  },
  "DESTINATION_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Recipient destination not found.",
    "retryable": false,
    "doc": "No such destination of this recipient; read the recipient's destinations."
  },
  "PAYMENT_DETAILS_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Payment details not found.",
    "retryable": false,
    "doc": "No such payment details of this user; create them or use another id."
  },
  "PAYMENT_METHOD_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Payment method or network not found.",
    "retryable": false,
    "doc": "No payment method or payment network has this id or slug; choose one from GET /api/v1/payment-methods."
  },
  "FIAT_ACCOUNT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Fiat account not found.",
    "retryable": false,
    "doc": "No such fiat account of this customer; pass the id back exactly as it was issued."
  },
  "OFFER_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Offer not found.",
    "retryable": false,
    "doc": "No such offer of this vendor, or it was withdrawn; list the offers to see which there are."
  },
  "PARTNER_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Partner not found.",
    "retryable": false,
    "doc": "No partner has this id; an operator reads the ids from GET /operator/partners."
  },
  "VENDOR_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Vendor not found.",
    "retryable": false,
    "doc": "No vendor has this id; an operator reads the ids from GET /operator/vendors."
  },
  "KEY_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Key not found.",
    "retryable": false,
    "doc": "No key has this id; an operator reads the ids from the key lists of partners, vendors and operators."
  },
  "DELIVERY_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Webhook delivery not found.",
    "retryable": false,
    "doc": "No such delivery of this partner, or it is older than deliveries are kept; list them with GET /partner/webhooks/deliveries."
  },
  "WEBHOOK_ENDPOINT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Webhook endpoint not found.",
    "retryable": false,
    "doc": "No such webhook endpoint of this partner; list them with GET /partner/webhook-endpoints."
  },
  "EFFECT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Effect not found.",
    "retryable": false,
    "doc": "No effect has this id; an operator reads the ids from GET /operator/effects."
  },
  "PROOF_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Payment proof not found.",
    "retryable": false,
    "doc": "No payment proof has this id, or the person it names was erased; an operator reads the ids from GET /operator/proof-reviews."
  },
  "SCREENING_CASE_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Screening case not found.",
    "retryable": false,
    "doc": "No screening case has this id; an operator reads the ids from GET /operator/screening-cases."
  },
  "QUEUE_CASE_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "This case does not wait for a decision any more.",
    "retryable": false,
    "doc": "It has been decided, or has settled by itself; read what waits from GET /operator/queue."
  },
  "DEPOSIT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Deposit not found.",
    "retryable": false,
    "doc": "No deposit into an escrow has this id; an operator reads the ids from GET /operator/deposits, a partner from GET /partner/orders/{order_id}/funds."
  },
  "FIAT_PAYMENT_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Fiat payment not found.",
    "retryable": false,
    "doc": "No payment into a fiat account has this id; an operator reads the ids from GET /operator/fiat-payments."
  },
  "APPROVAL_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "There is no such approval.",
    "retryable": false,
    "doc": "The approval id in the path is unknown; choose one from GET /operator/approvals."
  },
  "WIDGET_SESSION_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "This link does not open a session.",
    "retryable": false,
    "doc": "The code of a session made by POST /partner/widget-sessions opens it once, within ten minutes; make a new session."
  },
  "ROUTE_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "Route not found.",
    "retryable": false,
    "doc": "No such path, or not with this method; check both against the API reference."
  },
  "CURSOR_EXPIRED": {
    "kind": "error",
    "http_status": 410,
    "message": "Events after this cursor are no longer kept.",
    "retryable": false,
    "doc": "Some events after the cursor are older than events are kept, so going on from it would skip them silently; read what you missed from GET /partner/orders and go on from details.oldest_cursor."
  },
  "QUOTE_EXPIRED": {
    "kind": "error",
    "http_status": 409,
    "message": "The quote has expired.",
    "retryable": false,
    "doc": "A quote is valid for 60 seconds; create a new one and initiate it in time."
  },
  "QUOTE_ALREADY_USED": {
    "kind": "error",
    "http_status": 409,
    "message": "The quote has already been used.",
    "retryable": false,
    "doc": "A quote makes one order; create a new one, or repeat a lost request with its Idempotency-Key."
  },
  "INVALID_STATUS": {
    "kind": "error",
    "http_status": 409,
    "message": "The current status does not allow this action.",
    "retryable": false,
    "doc": "The order is in details.status, which does not allow the action; choose from details.allowed_actions."
  },
  "OPERATION_NOT_ALLOWED": {
    "kind": "error",
    "http_status": 409,
    "message": "This operation is not allowed on this order.",
    "retryable": false,
    "doc": "confirm-payment-sent on an own_iban order, or authorize-refund on an order held for review; read allowed_actions."
  },
  "SEND_OUT_IN_PROGRESS": {
    "kind": "error",
    "http_status": 409,
    "message": "A send-out is already in progress.",
    "retryable": false,
    "doc": "The order is being sent out already; wait for send_out_completed or send_out_failed."
  },
  "NONCE_ALREADY_USED": {
    "kind": "error",
    "http_status": 409,
    "message": "The nonce has already been used.",
    "retryable": false,
    "doc": "The signed forward request carries a spent nonce; read the parameters again and sign the new one."
  },
  "ALLOWANCE_TOO_LOW": {
    "kind": "error",
    "http_status": 409,
    "message": "The partner wallet has not approved the router for enough tokens.",
    "retryable": false,
    "doc": "Send details.approve_calldata from the wallet to details.token_address, then read the parameters again."
  },
  "BALANCE_TOO_LOW": {
    "kind": "error",
    "http_status": 409,
    "message": "The partner wallet does not hold enough tokens.",
    "retryable": false,
    "doc": "The wallet holds details.actual and needs details.required atomic units; fund it and read the parameters again."
  },
  "USER_ALREADY_EXISTS": {
    "kind": "error",
    "http_status": 409,
    "message": "A user with this email already exists.",
    "retryable": false,
    "doc": "An email is unique per partner; use the existing user."
  },
  "IDEMPOTENCY_IN_PROGRESS": {
    "kind": "error",
    "http_status": 409,
    "message": "The first request with this Idempotency-Key is still running.",
    "retryable": true,
    "doc": "The same key is being worked on; repeat the request shortly to get its stored answer."
  },
  "CLIENT_NOT_APPROVED": {
    "kind": "error",
    "http_status": 409,
    "message": "The customer is not approved for a fiat account yet.",
    "retryable": true,
    "doc": "A fiat account was asked for before the customer was approved; poll GET identification and try again."
  },
  "PROVISIONING_IN_PROGRESS": {
    "kind": "error",
    "http_status": 409,
    "message": "The fiat account is being provisioned.",
    "retryable": true,
    "doc": "The account is on its way; wait and try again."
  },
  "QUEUE_CASE_CLAIMED": {
    "kind": "error",
    "http_status": 409,
    "message": "Another operator has claimed this case.",
    "retryable": true,
    "doc": "A claim ends with its release, or by itself 30 minutes after it was made; take another case meanwhile."
  },
  "APPROVAL_REQUIRED": {
    "kind": "error",
    "http_status": 409,
    "message": "Another person has to approve this. It was not carried out.",
    "retryable": false,
    "doc": "The decision moves more than SECOND_APPROVAL_ABOVE_USD. It is carried out when another person makes the same call, or POST /operator/approvals/{details.approval_id}/approve, before details.expires_at. A key counts as the person who made it."
  },
  "APPROVAL_CLOSED": {
    "kind": "error",
    "http_status": 409,
    "message": "This approval is closed.",
    "retryable": false,
    "doc": "The request was approved, rejected, could not be carried out or has expired, see details.status; make the call itself again to ask anew."
  },
  "NO_OFFERS_AVAILABLE": {
    "kind": "error",
    "http_status": 422,
    "message": "No offer can serve this request.",
    "retryable": true,
    "doc": "Nothing matches the pair, amount, rail and filters now; details.excluded_by says what to change, else try later."
  },
  "KYC_NOT_CLEARED": {
    "kind": "error",
    "http_status": 422,
    "message": "The customer is not cleared for orders.",
    "retryable": false,
    "doc": "The customer is not VERIFIED; details.kyc_status says where the verification stands, complete it first."
  },
  "SENDER_IDENTITY_REQUIRED": {
    "kind": "error",
    "http_status": 422,
    "message": "The sender’s identity is incomplete for this rail.",
    "retryable": false,
    "doc": "The rail has to name the paying customer; supply details.kyc_fields through the KYC patch, within details.field_limits, and initiate again."
  },
  "INVALID_RECIPIENT_FIELDS": {
    "kind": "error",
    "http_status": 422,
    "message": "Required recipient fields are missing or malformed.",
    "retryable": false,
    "doc": "The details do not fit the rail's fields; correct those listed in details.fields and in the message."
  },
  "INSTITUTION_NOT_AVAILABLE": {
    "kind": "error",
    "http_status": 422,
    "message": "This institution is not available on this rail.",
    "retryable": false,
    "doc": "The institution is not live on the rail, country or currency; choose one from GET /supported/institutions."
  },
  "INSTITUTION_REQUIRED": {
    "kind": "error",
    "http_status": 422,
    "message": "institution_id is required for this rail.",
    "retryable": false,
    "doc": "The rail needs an institution; choose one from GET /supported/institutions."
  },
  "RELATIONSHIP_NOT_ALLOWED": {
    "kind": "error",
    "http_status": 422,
    "message": "This rail does not serve this sender-recipient relationship.",
    "retryable": false,
    "doc": "The rail pays only certain relationships, e.g. self and family; use another rail."
  },
  "RECIPIENT_NOT_ELIGIBLE": {
    "kind": "error",
    "http_status": 422,
    "message": "This rail does not pay this recipient.",
    "retryable": false,
    "doc": "The rail pays persons of its own country only; details.fields says what keeps this recipient from it. Use another rail."
  },
  "RECIPIENT_NOT_CLEARED": {
    "kind": "error",
    "http_status": 422,
    "message": "The recipient or the account holder is not cleared for payment.",
    "retryable": false,
    "doc": "Recipient and account holder have to be screened with the result clear, and not archived, at the quote and at every later step up to the payout; wait for the screening or use another recipient."
  },
  "WALLET_NOT_CLEARED": {
    "kind": "error",
    "http_status": 422,
    "message": "This wallet is not cleared.",
    "retryable": false,
    "doc": "The wallet’s screening found something, or a person has to look at it; use another wallet, or ask the operator."
  },
  "WALLET_NOT_ALLOWED": {
    "kind": "error",
    "http_status": 422,
    "message": "This wallet cannot be used.",
    "retryable": false,
    "doc": "The address cannot own a third of an order’s escrow; `details.reason` says why. Use a wallet of the customer’s own."
  },
  "RECIPIENT_UNVERIFIABLE": {
    "kind": "error",
    "http_status": 422,
    "message": "The recipient could not be verified.",
    "retryable": false,
    "doc": "No longer answered: recipients are validated when payment details are created, see INVALID_RECIPIENT_FIELDS."
  },
  "MISSING_FIELDS": {
    "kind": "error",
    "http_status": 422,
    "message": "Required fields are missing.",
    "retryable": false,
    "doc": "Identification or fiat-account issuing lacks details.missing_fields; send them."
  },
  "EMAIL_CODE_INVALID": {
    "kind": "error",
    "http_status": 422,
    "message": "The code is not right, or it is no longer valid.",
    "retryable": false,
    "doc": "A code is valid for ten minutes, for the address it was sent to, and for five tries; with details.attempts_left at 0 ask for a new one."
  },
  "IDEMPOTENCY_KEY_REUSED": {
    "kind": "error",
    "http_status": 422,
    "message": "This Idempotency-Key was used for a different request.",
    "retryable": false,
    "doc": "The key is bound to another body, method or path for 24 hours; use a new key for a new request."
  },
  "SECOND_FACTOR_REQUIRED": {
    "kind": "error",
    "http_status": 403,
    "message": "Add a second factor to your account first.",
    "retryable": false,
    "doc": "This deployment asks users of the console for a second factor; until one is added only the own account can be used."
  },
  "REAUTHENTICATION_REQUIRED": {
    "kind": "error",
    "http_status": 403,
    "message": "Give your password or a code once more.",
    "retryable": false,
    "doc": "What changes how a user of the console signs in needs the password or a code again, unless the user has just signed in; send it with the request."
  },
  "TEAM_MEMBER_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "There is no such member of the team.",
    "retryable": false,
    "doc": "No such user of the own desk; read the ids from GET /console/team."
  },
  "INVITATION_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "There is no such open invitation.",
    "retryable": false,
    "doc": "No invitation has this id, or it was used, withdrawn or is over; an operator reads the ids from GET /operator/invitations."
  },
  "CONSOLE_SESSION_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "There is no such session.",
    "retryable": false,
    "doc": "No open session of this user has this id; it may have ended meanwhile."
  },
  "PASSKEY_NOT_FOUND": {
    "kind": "error",
    "http_status": 404,
    "message": "There is no such passkey.",
    "retryable": false,
    "doc": "No passkey of this user has this id; read the ids from GET /console/account."
  },
  "LAST_ADMIN": {
    "kind": "error",
    "http_status": 409,
    "message": "A desk keeps at least one admin who can sign in.",
    "retryable": false,
    "doc": "The change would leave the desk without an admin; make another member an admin first. The operator may disable the last admin of a partner or a vendor."
  },
  "OWN_ROLE": {
    "kind": "error",
    "http_status": 409,
    "message": "Another admin has to do this.",
    "retryable": false,
    "doc": "No user changes the own role, nor disables or resets the own account as a member of the team; ask another admin."
  },
  "EMAIL_IN_USE": {
    "kind": "error",
    "http_status": 409,
    "message": "This e-mail address already signs in here.",
    "retryable": false,
    "doc": "An e-mail address is one user of the deployment; invite another address. A member who has forgotten the password is disabled first, and then invited again."
  },
  "LAST_SECOND_FACTOR": {
    "kind": "error",
    "http_status": 409,
    "message": "This deployment asks for a second factor, and this is the last one.",
    "retryable": false,
    "doc": "Add another passkey or an authenticator app first; to change phones, add the new app in place of the old one."
  },
  "SIGN_IN_STEP_EXPIRED": {
    "kind": "error",
    "http_status": 410,
    "message": "This took too long, or was tried too often. Begin again.",
    "retryable": false,
    "doc": "The token of a second step, of a passkey or of an app that is being added is good once, for some minutes and five tries; begin again."
  },
  "INVITATION_EXPIRED": {
    "kind": "error",
    "http_status": 410,
    "message": "This invitation is no longer good. Ask for a new one.",
    "retryable": false,
    "doc": "The link was used, withdrawn, is older than seven days or never was one; ask an admin of the desk for a new one."
  },
  "CREDENTIAL_INVALID": {
    "kind": "error",
    "http_status": 422,
    "message": "The password or the code is not right.",
    "retryable": false,
    "doc": "A user who is signed in gave a wrong password or code; a code of the app is good once, so wait for the next."
  },
  "PASSKEY_INVALID": {
    "kind": "error",
    "http_status": 422,
    "message": "The passkey was not accepted. Try again, or use another device.",
    "retryable": false,
    "doc": "What the browser answered does not fit what was asked for, or the passkey is known already; begin again."
  },
  "SIGN_IN_LOCKED": {
    "kind": "error",
    "http_status": 429,
    "message": "Too many failed attempts. Try again later, or use a passkey.",
    "retryable": true,
    "doc": "After ten failed attempts an address is locked for 15 minutes, then for twice as long each time, up to a day; it is told for every address, known or not. A passkey still signs in."
  },
  "PAYLOAD_TOO_LARGE": {
    "kind": "error",
    "http_status": 413,
    "message": "The request body is too large.",
    "retryable": false,
    "doc": "Bodies may have 1 MiB, document uploads 10 MiB; send less."
  },
  "UNSUPPORTED_MEDIA_TYPE": {
    "kind": "error",
    "http_status": 415,
    "message": "The content type is not supported.",
    "retryable": false,
    "doc": "Bodies are JSON; send Content-Type: application/json."
  },
  "RATE_LIMITED": {
    "kind": "error",
    "http_status": 429,
    "message": "Too many requests.",
    "retryable": true,
    "doc": "The request limit is used up; wait as long as the Retry-After header says."
  },
  "OPEN_ORDER_LIMIT": {
    "kind": "error",
    "http_status": 429,
    "message": "Too much is open already.",
    "retryable": true,
    "doc": "The partner or the customer has as many open orders, or as much value in them, as it may have; finish or cancel some and initiate the quote again, or ask the operator for a higher limit."
  },
  "INTERNAL_ERROR": {
    "kind": "error",
    "http_status": 500,
    "message": "Something went wrong on our side.",
    "retryable": true,
    "doc": "An unexpected failure; retry with the same Idempotency-Key and report X-Request-Id if it stays."
  },
  "TRANSACTOR_UNAVAILABLE": {
    "kind": "error",
    "http_status": 502,
    "message": "The transaction service is unavailable.",
    "retryable": true,
    "doc": "The transaction could not be sent; nothing moved, retry later."
  },
  "ESCROW_SIGNER_MISMATCH": {
    "kind": "error",
    "http_status": 502,
    "message": "The signature was not made by the owner of the escrow.",
    "retryable": false,
    "doc": "authorize-refund was signed by a key that does not own the escrow; sign with details.expected_signer (signer_address of the parameters)."
  },
  "WEBHOOK_DELIVERY_FAILED": {
    "kind": "error",
    "http_status": 502,
    "message": "The webhook endpoint did not accept the test event.",
    "retryable": true,
    "doc": "The endpoint answered other than 2xx or not within 10 seconds; repair it and test again."
  },
  "BANKING_ERROR": {
    "kind": "error",
    "http_status": 502,
    "message": "The bank refused the request.",
    "retryable": false,
    "doc": "The banking provider failed on this request; report X-Request-Id."
  },
  "BANKING_UNAVAILABLE": {
    "kind": "error",
    "http_status": 503,
    "message": "Banking is temporarily unavailable.",
    "retryable": true,
    "doc": "The banking provider cannot be reached; retry later."
  },
  "MAIL_UNAVAILABLE": {
    "kind": "error",
    "http_status": 503,
    "message": "This service cannot send e-mail.",
    "retryable": false,
    "doc": "The deployment has no way to send e-mail, so that no customer can be known at the widget; the operator sets MAIL_URL and MAIL_FROM."
  },
  "SERVICE_UNAVAILABLE": {
    "kind": "error",
    "http_status": 503,
    "message": "The service is temporarily unavailable.",
    "retryable": true,
    "doc": "The service or something it needs, such as its database, is temporarily unavailable; retry as Retry-After says, with the same Idempotency-Key."
  },
  "validation_error": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "A query parameter does not fit; correct it."
  },
  "invalid_direction": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "direction is missing or unknown; send onramp or offramp."
  },
  "missing_country_or_currency": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "Neither country nor currency was sent; send at least one."
  },
  "invalid_country": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "country is not a known two-letter ISO 3166-1 code; correct it."
  },
  "invalid_currency": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "currency is not a known ISO 4217 code; correct it."
  },
  "invalid_rail": {
    "kind": "error_key",
    "http_status": 400,
    "doc": "rail is missing or unknown; choose one from GET /supported/payment-rails."
  },
  "service_unavailable": {
    "kind": "error_key",
    "http_status": 503,
    "doc": "Something this answer needs is temporarily unavailable; retry after as long as Retry-After says."
  },
  "internal_error": {
    "kind": "error_key",
    "http_status": 500,
    "doc": "An unexpected failure; retry, and report X-Request-Id if it stays."
  },
  "CANCELLED_ON_REQUEST": {
    "kind": "order_failure",
    "message": "The order was cancelled on request.",
    "retryable": true,
    "doc": "You called cancel, or the end user did in the widget; cancelled_by says which."
  },
  "NO_VENDOR_ACCEPTED": {
    "kind": "order_failure",
    "message": "No vendor accepted the order in time.",
    "retryable": true,
    "doc": "Every vendor that was asked declined or was silent; create a new quote, which takes the market as it then is."
  },
  "VENDOR_DID_NOT_FUND": {
    "kind": "order_failure",
    "message": "The vendor did not lock its crypto in escrow in time.",
    "retryable": true,
    "doc": "On-ramp, before the customer was told where to pay: nothing was paid; create a new quote."
  },
  "FIAT_NOT_SENT": {
    "kind": "order_failure",
    "message": "The fiat payment was not confirmed in time.",
    "retryable": true,
    "doc": "On-ramp: neither confirm-payment-sent nor a matching deposit came before expires_at; a customer who has paid all the same needs support before anything is repeated."
  },
  "TRANSFER_NOT_AUTHORIZED": {
    "kind": "order_failure",
    "message": "The crypto transfer into escrow was not authorized in time.",
    "retryable": true,
    "doc": "Off-ramp: authorize-crypto-transfer did not come before expires_at; create a new quote and sign in time."
  },
  "VENDOR_DID_NOT_PAY": {
    "kind": "order_failure",
    "message": "The vendor did not pay the recipient in time.",
    "retryable": true,
    "doc": "Off-ramp, with the deposit in escrow: no payment was proved; sign the refund, then create a new quote."
  },
  "PAYMENT_PROOF_NOT_RENEWED": {
    "kind": "order_failure",
    "message": "The vendor did not replace a refused payment proof in time.",
    "retryable": true,
    "doc": "Off-ramp, with the deposit in escrow: a proof was refused and no other came; sign the refund, then create a new quote."
  },
  "PAYMENT_PROOFS_REFUSED": {
    "kind": "order_failure",
    "message": "The vendor’s payment proofs were refused too often.",
    "retryable": true,
    "doc": "Off-ramp, with the deposit in escrow: the last proof allowed was refused in review; sign the refund, then create a new quote."
  },
  "COST_BOUND_EXCEEDED": {
    "kind": "order_failure",
    "message": "The crypto cost of the payout rose above 1.20 times the expected amount.",
    "retryable": true,
    "doc": "Fiat-anchored off-ramp: the market moved before the payout, and the deposit is refunded to your wallet; create a new quote."
  },
  "ESCROW_ERROR": {
    "kind": "order_failure",
    "message": "The escrow or a transaction of the order failed on chain.",
    "retryable": true,
    "doc": "Repeating the transaction could not cure it. Crypto in escrow goes back to its owner; off-ramp, sign the refund while allowed_actions contains authorize-refund."
  },
  "ESCROW_SETTLED_ELSEWHERE": {
    "kind": "order_failure",
    "message": "The owners of the escrow moved its crypto themselves.",
    "retryable": false,
    "doc": "Two of the three owners executed another transaction than the order’s payout, and nothing is left in the escrow; what they agreed on is between them. Nothing more is paid out for the order."
  },
  "DISPUTE_DECIDED_FOR_VENDOR": {
    "kind": "order_failure",
    "message": "The dispute was decided for the vendor.",
    "retryable": false,
    "doc": "On-ramp: the operator found that the fiat did not reach the vendor, whose crypto goes back; find out what became of the payment before you repeat it."
  },
  "DISPUTE_DECIDED_FOR_PARTNER": {
    "kind": "order_failure",
    "message": "The dispute was decided for the partner.",
    "retryable": true,
    "doc": "Off-ramp: the operator found that the recipient was not paid; sign the refund, then create a new quote."
  },
  "COMPLIANCE_REVIEW": {
    "kind": "order_hold",
    "doc": "A person reviews the order. What led to the review is not told; wait, or ask the operator."
  },
  "KYC_REVIEW": {
    "kind": "order_hold",
    "doc": "The customer is no longer VERIFIED, as its KYC status says; complete the verification, then an operator releases the order."
  },
  "DEPOSIT_REVIEW": {
    "kind": "order_hold",
    "doc": "A deposit on the customer’s account could pay several orders; an operator decides which."
  },
  "FIAT_TRANSFER_REVIEW": {
    "kind": "order_hold",
    "doc": "The customer’s deposit could not be paid on to the vendor; an operator settles it with the bank."
  },
  "SETTLEMENT_REVIEW": {
    "kind": "order_hold",
    "doc": "A movement of crypto failed, is overdue, or would contradict a payment that the vendor says it made; an operator looks where the money is."
  },
  "CANCELLATION_REVIEW": {
    "kind": "order_hold",
    "doc": "The order was cancelled when its vendor knew already where to pay. An operator asks: a vendor that has paid disputes the order; where it has not, the refund is asked for."
  }
};

export const ORDER_STATUSES: readonly string[] = [
  "created",
  "awaiting_liquidity_provider",
  "awaiting_vendor_escrow_funding",
  "awaiting_fiat_transfer",
  "fiat_transfer_pending",
  "awaiting_crypto_transfer_authorization",
  "crypto_received",
  "fiat_payment_started",
  "fiat_payment_review_started",
  "awaiting_fiat_received_confirmation",
  "completed",
  "cancelled",
  "failed",
  "dispute_started",
  "send_out_pending",
  "send_out_completed",
  "send_out_failed",
  "crypto_transfer_authorization_pending",
  "fiat_received_confirmed",
  "crypto_release_pending"
];

/** What a sandbox can be told to make happen to an order. */
export const SANDBOX_ORDER_EVENTS: readonly string[] = [
  "vendor_accepts",
  "escrow_funded",
  "vendor_confirms_fiat",
  "bridge_settles",
  "bridge_fails",
  "buyer_submits_proof",
  "admin_reviews_proof",
  "proof_accepted",
  "proof_rejected",
  "provider_confirms_fiat",
  "dispute_opened",
  "escrow_error",
  "order_expires",
  "hold_for_review",
  "release_hold",
  "reprice"
];

/** What a text that does not match a pattern is told, in the words of the API. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = {
  "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$": "must be a uuid",
  "^(?:19[7-9][0-9]|2[0-9]{3})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$": "must be a time such as 2026-11-01T00:00:00Z",
  "^(?:19[7-9][0-9]|2[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$": "must be a date such as 2026-11-01",
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "must be a date such as 2026-11-01",
  "^0x[0-9a-fA-F]{40}$": "must be an address: 0x and 40 hexadecimal digits",
  "^0x[0-9a-fA-F]{64}$": "must be a hash: 0x and 64 hexadecimal digits",
  "^0x([0-9a-fA-F]{2})*$": "must be bytes: 0x and an even number of hexadecimal digits",
  "^[A-Za-z]{2}$": "must be the two letters of a country, such as DE",
  "^[A-Za-z]{3}$": "must be the three letters of a currency, such as EUR",
  "^[A-Za-z0-9]{3,10}$": "must be the code of a currency, such as EUR or USDC",
  "^[0-9]{1,18}$": "must be a cursor that the service gave out",
  "^[0-9]{1,17}_[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$": "must be a cursor that the service gave out",
  "^[0-9]{1,78}$": "must be a whole number in digits",
  "^[1-9][0-9]{0,17}$": "must be a whole number from 1",
  "^evt_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$": "must be evt_ and a uuid",
  "^[^\\u0000-\\u001f\\u007f]+$": "must not be empty or contain control characters",
  "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$": "must not be empty or contain control characters",
  "^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$": "must not contain control characters",
  "^(?! )[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*(?<! )$": "must not contain control characters, or a space at either end",
  "^[1-5](?:xx|[0-9]{2})$": "must be a status such as 404, or a class of them such as 4xx",
  "^[A-Z][A-Z_]{2,59}$": "must be an error code such as VALIDATION_ERROR",
  "^[A-Z0-9_]{1,64}$": "must be 1 to 64 capital letters, digits or underscores",
  "^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$": "must be one of GET, HEAD, POST, PUT, PATCH, DELETE",
  "^[A-Za-z0-9._:-]{1,128}$": "must be 1 to 128 letters, digits or . _ : -",
  "^[A-Za-z0-9_./-]{1,200}$": "must be 1 to 200 letters, digits or _ . / -",
  "^[A-Za-z0-9_-]{1,100}$": "must be 1 to 100 letters, digits, underscores or hyphens",
  "^[A-Za-z0-9_ -]{1,60}$": "must be 1 to 60 letters, digits, spaces, underscores or hyphens",
  "^[A-Za-z0-9_-]+$": "must be letters, digits, underscores or hyphens",
  "^[A-Za-z_]{1,80}$": "must be 1 to 80 letters or underscores",
  "^[a-z_.-]{1,80}$": "must be 1 to 80 small letters or _ . -",
  "^[a-z.-]{1,60}$": "must be 1 to 60 small letters, dots or hyphens"
};
