-- A sandbox may put its clock back.

ALTER TABLE business_clock ADD COLUMN resets integer NOT NULL DEFAULT 0 CHECK (resets >= 0);
COMMENT ON COLUMN business_clock.resets IS
  'How often the offset was put back to nothing: a process that reads a smaller offset follows it only after a reset it has not seen.';
