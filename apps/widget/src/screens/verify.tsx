import { useEffect, useState } from 'preact/hooks';
import { Documents } from '../account/documents.tsx';
import { Handoff } from '../account/handoff.tsx';
import { KycForm } from '../account/kyc-form.tsx';
import { ALL_FIELDS, isSlow, kycView, reasonGroups } from '../account/kyc-steps.ts';
import { useKyc } from '../account/use-kyc.ts';
import { type MessageKey, t, tIfKnown } from '../i18n/i18n.ts';
import type { Kyc } from '../session/api.ts';
import { api, session } from '../session/store.ts';
import { Button, Heading, Notice, Problem, Spinner, useTask } from '../ui/kit.tsx';

/** Who the customer is: filled in here with pictures, or on the provider’s page; each status in words with the way on. */
export function VerifyScreen() {
  const [isHandedOff, setHandedOff] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const { kyc, error, load } = useKyc(isHandedOff);
  /** The link of the provider’s page is told once, when it is made. */
  const [link, setLink] = useState<string | null>(null);
  const status = kyc?.status ?? '';
  useEffect(() => setEditing(false), [status]);
  if (kyc === null) {
    return (
      <div class="screen">
        <Heading>{t('kyc.status.unknown.title')}</Heading>
        {error === null ? (
          <p class="row" role="status">
            <Spinner /> {t('loading')}
          </p>
        ) : (
          <Problem error={error} />
        )}
        {error === null ? null : <Button onClick={load}>{t('kyc.checkAgain')}</Button>}
      </div>
    );
  }
  const view = kycView(status);
  const isForm = view === 'start' || view === 'again' || isEditing;
  return (
    <div class="screen">
      {/* A new status is a new screen to a reader: its heading takes the focus. */}
      <Heading key={status}>
        {tIfKnown(`kyc.status.${status}.title`) ?? t('kyc.status.unknown.title')}
      </Heading>
      <StatusWords kyc={kyc} />
      {isForm ? (
        <Form
          kyc={kyc}
          isAgain={view !== 'start'}
          onChanged={async () => {
            setEditing(false);
            await load();
          }}
          onLink={setLink}
        />
      ) : null}
      {view === 'documents' && !isEditing ? (
        <>
          <Documents missing={kyc.required_documents} onUploaded={load} />
          <Handoff onOpen={() => setHandedOff(true)} />
          <Button kind="link" testId="kyc-edit" onClick={() => setEditing(true)}>
            {t('kyc.edit')}
          </Button>
        </>
      ) : null}
      {view === 'wait' ? <Waiting kyc={kyc} link={link ?? kyc.verification_url} onLook={load} /> : null}
    </div>
  );
}

const NOTICES = {
  start: 'info',
  documents: 'info',
  wait: 'info',
  again: 'warning',
  refused: 'danger',
  done: 'success',
} as const;

function StatusWords({ kyc: { status, rejection_reasons } }: { readonly kyc: Kyc }) {
  const partner = session.value?.partner_name ?? '';
  const reasons = reasonGroups(rejection_reasons);
  return (
    <div data-testid="kyc-status" data-status={status}>
      <Notice kind={NOTICES[kycView(status)]}>
        <p>{tIfKnown(`kyc.status.${status}`, { partner }) ?? t('kyc.status.unknown')}</p>
        {kycView(status) === 'start' ? <p>{t('kyc.intro', { partner })}</p> : null}
        {reasons.length === 0 ? null : (
          <>
            <p>{t('kyc.whyLabel')}</p>
            <ul>
              {reasons.map((group) => (
                <li key={group}>{t(`kyc.reason.${group}` as MessageKey)}</li>
              ))}
            </ul>
          </>
        )}
        {isSlow(status) ? <p>{t('kyc.waitElsewhere')}</p> : null}
      </Notice>
    </div>
  );
}

/** After a refusal all is asked again, for what was wrong may be in it; where only the pictures were, they alone go again. */
function Form({
  kyc,
  isAgain,
  onChanged,
  onLink,
}: {
  readonly kyc: Kyc;
  readonly isAgain: boolean;
  readonly onChanged: () => Promise<void>;
  readonly onLink: (link: string) => void;
}) {
  const { busy, error, run } = useTask();
  const isAllKnown = kyc.missing_fields.length === 0;
  const onlyPictures = () =>
    run(async () => {
      await api().submitKyc({ method: 'direct_data' });
      await onChanged();
    });
  return (
    <>
      <KycForm
        asked={isAgain ? ALL_FIELDS : kyc.missing_fields}
        missing={kyc.missing_fields}
        submitLabel={isAgain ? t('kyc.submitAgain') : t('kyc.submit')}
        onSubmitted={onChanged}
      />
      <Problem error={error} />
      {isAgain && isAllKnown ? (
        <Button kind="secondary" busy={busy} testId="kyc-only-pictures" onClick={onlyPictures}>
          {t('kyc.onlyPictures')}
        </Button>
      ) : null}
      <HostedButton onChanged={onChanged} onLink={onLink} />
    </>
  );
}

function HostedButton({
  onChanged,
  onLink,
}: {
  readonly onChanged: () => Promise<void>;
  readonly onLink: (link: string) => void;
}) {
  const { busy, error, run } = useTask();
  const go = () => {
    // Opened while the click still counts: browsers block a tab that opens after an answer has come.
    const tab = window.open('about:blank', '_blank');
    if (tab !== null) tab.opener = null;
    return run(async () => {
      try {
        const { verification_url: url } = await api().submitKyc({ method: 'hosted_link' });
        if (url !== undefined && isPage(url)) {
          onLink(url);
          if (tab !== null) tab.location.href = url;
        } else tab?.close();
      } catch (thrown) {
        tab?.close();
        throw thrown;
      }
      await onChanged();
    });
  };
  return (
    <div class="stack tight">
      <Button kind="link" busy={busy} testId="kyc-hosted" onClick={go}>
        {t('kyc.choose.hosted')}
      </Button>
      <p class="hint">{t('kyc.choose.hostedHint')}</p>
      <Problem error={error} />
    </div>
  );
}

const isPage = (url: string): boolean => /^https?:\/\//i.test(url);

function Waiting({
  kyc,
  link,
  onLook,
}: {
  readonly kyc: Kyc;
  readonly link: string | null;
  readonly onLook: () => Promise<Kyc | null>;
}) {
  const [isUnchanged, setUnchanged] = useState(false);
  const { busy, run } = useTask();
  const isHosted = kyc.method === 'hosted_link' && !isSlow(kyc.status);
  const look = () =>
    run(async () => {
      setUnchanged(false);
      const found = await onLook();
      setUnchanged(found?.status === kyc.status);
    });
  return (
    <div class="stack">
      {isHosted && link !== null && isPage(link) ? (
        <>
          <p>{t('kyc.hosted.intro')}</p>
          <a
            class="button secondary"
            href={link}
            target="_blank"
            rel="noopener noreferrer"
            data-testid="kyc-hosted-link"
          >
            {t('kyc.hosted.open')}
          </a>
        </>
      ) : null}
      <Button busy={busy} testId="kyc-finished" onClick={look}>
        {isHosted ? t('kyc.hosted.finished') : t('kyc.checkAgain')}
      </Button>
      <p role="status">{isUnchanged ? t('kyc.hosted.notYet') : ''}</p>
    </div>
  );
}
