-- Customers, quotes and orders. Amounts are atomic units; decimals travel with them, because a token has 18
-- on one chain and 6 on another.
CREATE TABLE users (
  user_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  email_sealed text NOT NULL,
  -- Keyed hash: equal addresses can be found without being readable.
  email_index text NOT NULL,
  reference_id text CHECK (length(reference_id) <= 255),
  kyc_status text NOT NULL CHECK (kyc_status IN ('VERIFIED', 'REJECTED', 'UNDER_REVIEW', 'IN_PROGRESS',
    'PENDING_DOCUMENTS', 'VERIFICATION_REJECTED', 'NOT_INITIATED')),
  kyc_updated_at timestamptz NOT NULL,
  rejection_reasons jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  CONSTRAINT users_email_once UNIQUE (partner_id, email_index)
);
CALL own_by_partner('users', 'SELECT, INSERT, UPDATE');

CREATE TABLE quotes (
  quote_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  direction text NOT NULL CHECK (direction IN ('onramp', 'offramp')),
  anchor text NOT NULL CHECK (anchor IN ('fiat', 'crypto')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'used', 'expired')),
  vendor_id uuid NOT NULL REFERENCES vendors,
  chain text NOT NULL,
  crypto_currency text NOT NULL,
  crypto_decimals smallint NOT NULL CHECK (crypto_decimals BETWEEN 0 AND 30),
  fiat_currency text NOT NULL,
  fiat_decimals smallint NOT NULL CHECK (fiat_decimals BETWEEN 0 AND 6),
  rate text NOT NULL,
  crypto_amount numeric(78, 0) NOT NULL CHECK (crypto_amount > 0),
  fiat_amount numeric(78, 0) NOT NULL CHECK (fiat_amount > 0),
  platform_fee numeric(78, 0) NOT NULL CHECK (platform_fee >= 0),
  platform_fee_pct text NOT NULL,
  partner_fee numeric(78, 0) NOT NULL CHECK (partner_fee >= 0),
  partner_fee_pct text NOT NULL,
  payment_method_slug text NOT NULL,
  payment_network_slug text NOT NULL,
  country_code text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX quotes_by_partner ON quotes (partner_id, created_at);
CALL own_by_partner('quotes', 'SELECT, INSERT, UPDATE');

CREATE TABLE orders (
  order_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  -- The second line of defence behind the claim: one order a quote, whatever races.
  quote_id uuid NOT NULL UNIQUE REFERENCES quotes,
  direction text NOT NULL CHECK (direction IN ('onramp', 'offramp')),
  order_type text NOT NULL CHECK (order_type IN ('onramp', 'offramp', 'payment_request')),
  reference_id text CHECK (length(reference_id) <= 255),
  status text NOT NULL,
  -- What the machine's guards read besides the status; written only by the executor.
  facts jsonb NOT NULL,
  timeline jsonb NOT NULL DEFAULT '[]',
  deadline_at timestamptz,
  vendor_id uuid REFERENCES vendors,
  chain text NOT NULL,
  -- { address, service, seller, buyer }: fixed when a vendor accepts, whatever wallets change later.
  escrow jsonb,
  crypto_currency text NOT NULL,
  crypto_decimals smallint NOT NULL,
  fiat_currency text NOT NULL,
  fiat_decimals smallint NOT NULL,
  rate text NOT NULL,
  crypto_amount numeric(78, 0) NOT NULL CHECK (crypto_amount > 0),
  fiat_amount numeric(78, 0) NOT NULL CHECK (fiat_amount > 0),
  platform_fee numeric(78, 0) NOT NULL CHECK (platform_fee >= 0),
  platform_fee_pct text NOT NULL,
  partner_fee numeric(78, 0) NOT NULL CHECK (partner_fee >= 0),
  partner_fee_pct text NOT NULL,
  payment_method_slug text NOT NULL,
  payment_network_slug text NOT NULL,
  tx_hash text CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX orders_by_partner ON orders (partner_id, created_at DESC, order_id DESC);
CREATE INDEX orders_by_vendor ON orders (vendor_id, created_at DESC);
CREATE INDEX orders_by_deadline ON orders (deadline_at) WHERE deadline_at IS NOT NULL;
CALL own_by_partner('orders', 'SELECT, INSERT, UPDATE');

-- Signatures of the escrow's owners other than the service, given when they agreed: a vendor signs the
-- refund when it accepts and the release when it has the fiat.
CREATE TABLE escrow_signatures (
  order_id uuid NOT NULL REFERENCES orders,
  partner_id uuid NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('release', 'refund')),
  signer text NOT NULL CHECK (signer ~ '^0x[0-9a-fA-F]{40}$'),
  signature text NOT NULL CHECK (signature ~ '^0x[0-9a-fA-F]{130}$'),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, purpose, signer)
);
CALL own_by_partner('escrow_signatures', 'SELECT, INSERT');
