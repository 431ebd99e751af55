-- Why a partner cancelled an order, in its own words. They may name somebody, so they are kept sealed, and apart: few orders
-- have any, and forgetting a person deletes them.
CREATE TABLE order_stop_reasons (
  order_id uuid PRIMARY KEY REFERENCES orders,
  partner_id uuid NOT NULL REFERENCES partners,
  reason_sealed text NOT NULL
);
CALL own_by_partner('order_stop_reasons', 'SELECT, INSERT, UPDATE');
