import * as values from '../values.ts';
import { api, withDefault } from '../variable.ts';

const limit = values.wholeNumber(0, 1_000_000_000);

/** How much partners, their customers and strangers may ask for. */
export const limits = {
  rateLimitPartnerPerMinute: withDefault(
    'RATE_LIMIT_PARTNER_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '6000' },
    'Requests a minute for each partner, over all processes.',
    { roles: api },
  ),
  partnerTimeSharePct: withDefault(
    'PARTNER_TIME_SHARE_PCT',
    values.wholeNumber(0, 100),
    { sandbox: '0', production: '20' },
    'Share of its time that a process works on the requests of one partner while it serves other partners too; more of them wait. 0 for no bounds.',
    { roles: api },
  ),
  rateLimitPublicPerMinute: withDefault(
    'RATE_LIMIT_PUBLIC_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '1200' },
    'Requests a minute for each address (an IPv6 /64 is one) on public endpoints, and with session tokens that were not seen to be good yet, over all processes.',
    { roles: api },
  ),
  rateLimitWrongKeysPerMinute: withDefault(
    'RATE_LIMIT_WRONG_KEYS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '6000', production: '30' },
    'Wrong API keys a minute for each address (an IPv6 /64 is one), over all processes. Good keys pass whatever else comes from their address.',
    { roles: api },
  ),
  openOrdersPerPartner: withDefault(
    'OPEN_ORDERS_PER_PARTNER',
    limit,
    '1000',
    'Orders that a partner may have open at a time. An operator may give a partner another limit, here and below.',
    { roles: api },
  ),
  openOrdersPerCustomer: withDefault(
    'OPEN_ORDERS_PER_CUSTOMER',
    limit,
    '100',
    'Orders that one customer of a partner may have open at a time.',
    { roles: api },
  ),
  heldValuePerPartnerUsd: withDefault(
    'HELD_VALUE_PER_PARTNER_USD',
    limit,
    '1000000',
    'Dollars that a partner’s open orders may be worth together. Keep it well below what your vendors have on offer in one corridor: open orders bind that.',
    { roles: api },
  ),
  heldValuePerCustomerUsd: withDefault(
    'HELD_VALUE_PER_CUSTOMER_USD',
    limit,
    '250000',
    'Dollars that the open orders of one customer may be worth together.',
    { roles: api },
  ),
};

export const widgetLimits = {
  widgetSessionsPerKeyPerMinute: withDefault(
    'WIDGET_SESSIONS_PER_KEY_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '600' },
    'Widget sessions that one publishable key may begin in a minute, over all processes.',
    { roles: api },
  ),
  widgetSessionsPerAddressPerMinute: withDefault(
    'WIDGET_SESSIONS_PER_ADDRESS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '30' },
    'Widget sessions that one address (an IPv6 /64 is one) may begin or open in a minute, over all processes.',
    { roles: api },
  ),
  widgetCodesPerAddressPerMinute: withDefault(
    'WIDGET_CODES_PER_ADDRESS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '10' },
    'E-mail codes that one address (an IPv6 /64 is one) may ask for in a minute, over all processes.',
    { roles: api },
  ),
  widgetCodesPerSessionPerHour: withDefault(
    'WIDGET_CODES_PER_SESSION_PER_HOUR',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '1000', production: '10' },
    'E-mail codes that one widget session may ask for in an hour, whatever the address.',
    { roles: api },
  ),
  widgetCodesPerMailboxPerHour: withDefault(
    'WIDGET_CODES_PER_MAILBOX_PER_HOUR',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '1000', production: '10' },
    'E-mail codes that are sent to one mailbox in an hour for one partner, over all sessions.',
    { roles: api },
  ),
};

export const consoleRules = {
  consoleRequireSecondFactor: withDefault(
    'CONSOLE_REQUIRE_SECOND_FACTOR',
    values.flag,
    { sandbox: 'false', production: 'true' },
    'Whether users of the console need a second factor. One without can sign in only to add it.',
    { roles: api },
  ),
  consoleIdleMinutes: withDefault(
    'CONSOLE_IDLE_MINUTES',
    values.wholeNumber(5, 1_440),
    '60',
    'A session of the console ends by itself when it was not used for so long.',
    { roles: api },
  ),
  consoleSessionHours: withDefault(
    'CONSOLE_SESSION_HOURS',
    values.wholeNumber(1, 168),
    '12',
    'How long a session of the console lasts at most; then its user signs in again.',
    { roles: api },
  ),
  consoleSignInsPerMinute: withDefault(
    'CONSOLE_SIGN_INS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '6000', production: '20' },
    'Attempts to sign in to the console, and to use an invitation, that one address (an IPv6 /64 is one) has in a minute, over all processes.',
    { roles: api },
  ),
  secondApprovalAboveUsd: withDefault(
    'SECOND_APPROVAL_ABOVE_USD',
    values.dollarsOrOff,
    '10000',
    'An operator’s decision that moves more than this is carried out only when another person makes it too; holds for API keys as well. `0` for every decision that moves money, `off` for none.',
    { roles: api },
  ),
  queueTargets: withDefault(
    'QUEUE_TARGETS',
    values.queueTargets,
    '',
    'How soon an operator should decide, in minutes by kind of the queue: `kyc=480,hold=60`. What is not named keeps its own: kyc 480, proof 30, hold 120, dispute 1440, recipient_screening and screening_case 240, deposit 240, fiat_payment 120, offer 1440, effect 30, reconciliation 60.',
    { example: 'kyc=480,hold=60' },
  ),
};
