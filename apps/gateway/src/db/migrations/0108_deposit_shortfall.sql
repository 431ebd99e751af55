-- What an operator forgave of an off-ramp deposit: the platform's fee is so much smaller, everybody else's share is not.
ALTER TABLE orders ADD COLUMN deposit_shortfall numeric(78, 0) NOT NULL DEFAULT 0
  CHECK (deposit_shortfall >= 0 AND deposit_shortfall <= platform_fee);
