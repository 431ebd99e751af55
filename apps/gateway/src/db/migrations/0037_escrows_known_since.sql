-- An escrow can be paid as soon as somebody knows its address, which may be long before a worker that was away watches it.
ALTER TABLE escrow_watches ADD COLUMN known_since timestamptz;
COMMENT ON COLUMN escrow_watches.known_since IS
  'No deposit can be older than this: when its order was opened. Null for those that were registered before it was kept.';
