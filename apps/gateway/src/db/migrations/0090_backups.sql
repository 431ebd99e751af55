-- Backups under row-level security: causeway_backup reads every row of every table and writes none, so that
-- `pg_dump --role=causeway_backup --enable-row-security` needs no superuser.
GRANT USAGE ON SCHEMA public TO causeway_backup;

CREATE PROCEDURE show_to_backups(target regclass) LANGUAGE plpgsql AS $$
DECLARE
  counter regclass;
BEGIN
  EXECUTE format('GRANT SELECT ON %s TO causeway_backup', target);
  EXECUTE format('CREATE POLICY backup_rows ON %s FOR SELECT TO causeway_backup USING (true)', target);
  FOR counter IN SELECT objid FROM pg_depend
                  WHERE refobjid = target AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i')
                    AND objid IN (SELECT oid FROM pg_class WHERE relkind = 'S') LOOP
    EXECUTE format('GRANT SELECT ON SEQUENCE %s TO causeway_backup', counter);
  END LOOP;
END $$;

CREATE OR REPLACE PROCEDURE own_by_partner(target regclass, partner_may text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format(
    'CREATE POLICY partner_rows ON %s TO causeway_partner
       USING (partner_id = current_partner_id()) WITH CHECK (partner_id = current_partner_id())', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT %s ON %s TO causeway_partner', partner_may, target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
  CALL show_to_backups(target);
END $$;

CREATE OR REPLACE PROCEDURE own_by_system(target regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY system_rows ON %s TO causeway_system USING (true) WITH CHECK (true)', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_system', target);
  CALL show_to_backups(target);
END $$;

DO $$
DECLARE
  target regclass;
BEGIN
  FOR target IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relrowsecurity LOOP
    CALL show_to_backups(target);
  END LOOP;
END $$;

-- Tells which migrations there were: to a restore, and to processes whose login owns nothing.
GRANT SELECT ON schema_migrations TO causeway_backup, causeway_system;
