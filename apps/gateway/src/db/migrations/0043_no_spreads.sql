-- Live offers say what a corridor costs. The setting that stood in for them is gone, with what operators made of it.
DELETE FROM reference_records WHERE kind = 'spreads';
