-- What customers at the widget need beside their sessions: how many codes were asked for, the way back to the hosted page, the
-- mailbox of a sandbox, and a hosted verification that can be gone on with.

ALTER TABLE kyc_submissions ADD link_sealed text;
COMMENT ON COLUMN kyc_submissions.link_sealed IS
  'The hosted link, sealed with the customer’s own key: a customer at the widget is shown it again after a reload.';

ALTER TABLE widget_sessions ADD widget_key_sealed text;
COMMENT ON COLUMN widget_sessions.widget_key_sealed IS
  'The publishable key that it was started with: the hosted page that an e-mail leads back to needs it, and of keys only hashes are kept.';

CREATE TABLE widget_code_counts (
  partner_id uuid NOT NULL REFERENCES partners,
  counted text NOT NULL,
  hour timestamptz NOT NULL,
  codes integer NOT NULL CHECK (codes > 0),
  PRIMARY KEY (partner_id, counted, hour)
);
COMMENT ON TABLE widget_code_counts IS 'Codes sent in an hour of business time, by session and by mailbox.';
COMMENT ON COLUMN widget_code_counts.counted IS 'The session’s id, or the blind index of the address.';
CREATE INDEX widget_code_counts_by_age ON widget_code_counts (hour);
CALL own_by_partner('widget_code_counts', 'SELECT, INSERT, UPDATE');
CALL serve_customer('widget_code_counts', 'true');

CREATE TABLE sandbox_mails (
  mail_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  email_index text NOT NULL,
  message_sealed text NOT NULL,
  sent_at timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_mails IS 'E-mails that a sandbox would have sent. In production it stays empty.';
COMMENT ON COLUMN sandbox_mails.email_index IS 'Blind index of the address.';
CREATE INDEX sandbox_mails_by_address ON sandbox_mails (partner_id, email_index, sent_at DESC);
CREATE INDEX sandbox_mails_by_age ON sandbox_mails (sent_at);
CALL own_by_partner('sandbox_mails', 'SELECT');
