-- An order is its quote's, with the partner and the customer of it, and a quote's customer is the partner's own: one key says
-- what three and two said of single columns, and costs one look-up for each (decision 0060).
ALTER TABLE users ADD CONSTRAINT users_of_partner UNIQUE (user_id, partner_id);
ALTER TABLE quotes
  ADD CONSTRAINT quotes_of_customer UNIQUE (quote_id, partner_id, user_id),
  ADD CONSTRAINT quotes_customer_fkey FOREIGN KEY (user_id, partner_id) REFERENCES users (user_id, partner_id),
  DROP CONSTRAINT quotes_user_id_fkey,
  DROP CONSTRAINT quotes_partner_id_fkey;
ALTER TABLE orders
  ADD CONSTRAINT orders_quote_fkey FOREIGN KEY (quote_id, partner_id, user_id)
    REFERENCES quotes (quote_id, partner_id, user_id),
  DROP CONSTRAINT orders_quote_id_fkey,
  DROP CONSTRAINT orders_user_id_fkey,
  DROP CONSTRAINT orders_partner_id_fkey;
