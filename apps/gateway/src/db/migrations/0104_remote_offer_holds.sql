-- What this deployment has reserved, or asked to reserve, at an offers backend of its own. Written before the backend is
-- asked, so that an answer that never came is known about: such a hold is ended there until the backend has confirmed it.
CREATE TABLE remote_offer_holds (
  hold_id uuid PRIMARY KEY,
  quote_id uuid NOT NULL,
  offer_id uuid NOT NULL,
  crypto numeric NOT NULL CHECK (crypto > 0),
  -- Null while it counts.
  ending text CHECK (ending IN ('release', 'consume')),
  -- Machine time: it tells a forgotten hold from one whose order is being written.
  held_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX remote_offer_holds_open ON remote_offer_holds (quote_id, offer_id) WHERE ending IS NULL;
CREATE INDEX remote_offer_holds_by_age ON remote_offer_holds (held_at);
CALL own_by_system('remote_offer_holds');
