import type { KycDocumentType } from '@causeway/protocol';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { api, recover } from '../session/store.ts';
import { Button, Notice, problemText, Spinner } from '../ui/kit.tsx';
import { Camera, type CameraProblem, hasCamera } from './camera.tsx';
import { base64Of, type Picture, PictureError, preparePicture } from './images.ts';
import { CONTENT_TYPES, MOST_BYTES } from './photo.ts';

const ACCEPTED = CONTENT_TYPES.join(',');
const MEGABYTE = 1_000_000;

/** Pictures that are still missing, each sent as soon as it is chosen, and those that have arrived. */
export function Documents({
  missing,
  onUploaded,
}: {
  readonly missing: readonly KycDocumentType[];
  readonly onUploaded: () => Promise<unknown>;
}) {
  const [received, setReceived] = useState<readonly KycDocumentType[]>([]);
  const [again, setAgain] = useState<KycDocumentType | null>(null);
  const here = received.filter((type) => !missing.includes(type));
  const arrive = async (type: KycDocumentType) => {
    setReceived((before) => [...before.filter((one) => one !== type), type]);
    setAgain(null);
    await onUploaded();
  };
  return (
    <div class="stack">
      <p role="status">
        {missing.length === 0
          ? t('kyc.document.allHere')
          : t('kyc.documents.intro', { count: missing.length })}
      </p>
      {here.map((type) =>
        type === again ? (
          <Document key={type} type={type} onSent={() => arrive(type)} />
        ) : (
          <div key={type} class="received">
            <span>
              <strong>{t(`kyc.document.${type}`)}</strong>
              <span class="hint"> ✓ {t('kyc.document.done')}</span>
            </span>
            <Button kind="link" onClick={() => setAgain(type)} testId={`document-again-${type}`}>
              {t('kyc.document.retake')}
            </Button>
          </div>
        ),
      )}
      {missing.map((type) => (
        <Document key={type} type={type} onSent={() => arrive(type)} />
      ))}
      <p class="hint">{t('kyc.document.hint')}</p>
    </div>
  );
}

type Sending = {
  readonly picture: Picture;
  /** To look at; a PDF has none. */
  readonly url: string | null;
  readonly state: 'sending' | 'failed';
  readonly problem: string;
};

function useSending(type: KycDocumentType, onSent: () => Promise<unknown>) {
  const [sending, setSending] = useState<Sending | null>(null);
  const [refusal, setRefusal] = useState('');
  useEffect(() => {
    const url = sending?.url ?? null;
    return () => {
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [sending?.url]);

  const send = async (picture: Picture, url: string | null) => {
    setSending({ picture, url, state: 'sending', problem: '' });
    try {
      const content = await base64Of(picture.blob);
      await api().uploadDocument({ document_type: type, content_type: picture.type, content });
    } catch (thrown) {
      if (await recover(thrown).catch(() => false)) return;
      setSending({ picture, url, state: 'failed', problem: problemText(thrown) });
      return;
    }
    await onSent();
    setSending(null);
  };
  const take = async (file: Blob) => {
    setRefusal('');
    try {
      const picture = await preparePicture(file);
      const url = picture.type === 'application/pdf' ? null : URL.createObjectURL(picture.blob);
      await send(picture, url);
    } catch (thrown) {
      const problem = thrown instanceof PictureError ? thrown.problem : 'unreadable';
      setRefusal(t(`kyc.document.${problem}`, { size: Math.floor(MOST_BYTES / MEGABYTE) }));
    }
  };
  return { sending, refusal, take, send, forget: () => setSending(null) };
}

function Document({
  type,
  onSent,
}: {
  readonly type: KycDocumentType;
  readonly onSent: () => Promise<unknown>;
}) {
  const [isCameraOpen, setCameraOpen] = useState(false);
  const [trouble, setTrouble] = useState<CameraProblem | null>(hasCamera() ? null : 'missing');
  const { sending, refusal, take, send, forget } = useSending(type, onSent);
  const name = t(`kyc.document.${type}`);
  const facing = type === 'SELFIE' ? 'user' : 'environment';
  return (
    <section class="panel" aria-label={name} data-testid={`panel-${type}`}>
      <h2>{name}</h2>
      <p class="hint">{t(`kyc.document.${type}.hint`)}</p>
      {sending === null ? null : (
        <Sent
          sending={sending}
          name={name}
          onRetry={() => send(sending.picture, sending.url)}
          onRetake={forget}
        />
      )}
      {refusal === '' ? null : <Notice kind="danger">{refusal}</Notice>}
      {trouble === null || sending !== null ? null : (
        <Notice kind="warning" testId="camera-problem">
          {t(`kyc.camera.${trouble}`)}
        </Notice>
      )}
      {isCameraOpen ? (
        <Camera
          facing={facing}
          onClose={() => setCameraOpen(false)}
          onProblem={(problem) => {
            setTrouble(problem);
            setCameraOpen(false);
          }}
          onPhoto={(photo) => {
            setCameraOpen(false);
            void take(photo);
          }}
        />
      ) : null}
      {sending !== null || isCameraOpen ? null : (
        <div class="row">
          {trouble === null ? (
            <Button kind="secondary" onClick={() => setCameraOpen(true)} testId={`camera-${type}`}>
              {t('kyc.camera.open')}
            </Button>
          ) : (
            // Where the page gets no camera, a phone still has its own program for it.
            <FileButton
              label={t('kyc.camera.open')}
              describes={name}
              onFile={take}
              capture={facing}
              isTouchOnly
            />
          )}
          <FileButton
            label={t('kyc.document.file')}
            describes={name}
            onFile={take}
            testId={`document-${type}`}
          />
        </div>
      )}
    </section>
  );
}

function Sent({
  sending: { url, state, problem },
  name,
  onRetry,
  onRetake,
}: {
  readonly sending: Sending;
  readonly name: string;
  readonly onRetry: () => unknown;
  readonly onRetake: () => void;
}) {
  return (
    <div class="stack tight">
      {url === null ? null : (
        <img class="picture" src={url} alt={t('kyc.document.preview', { document: name })} />
      )}
      {state === 'sending' ? (
        <p class="row" role="status">
          <Spinner /> {t('kyc.document.sending')}
        </p>
      ) : (
        <Notice kind="danger">
          <p>
            {t('kyc.document.failed')}: {problem}
          </p>
          <div class="row">
            <Button onClick={onRetry}>{t('kyc.document.retry')}</Button>
            <Button kind="secondary" onClick={onRetake}>
              {t('kyc.document.retake')}
            </Button>
          </div>
        </Notice>
      )}
    </div>
  );
}

type FileButtonProps = {
  readonly label: string;
  readonly describes: string;
  readonly onFile: (file: File) => unknown;
  readonly capture?: 'environment' | 'user';
  readonly isTouchOnly?: boolean;
  readonly testId?: string;
};

function FileButton({ label, describes, onFile, capture, isTouchOnly = false, testId }: FileButtonProps) {
  return (
    <label class={isTouchOnly ? 'button secondary file touch-only' : 'button secondary file'}>
      <span>{label}</span>
      <span class="visually-hidden">: {describes}</span>
      <input
        type="file"
        class="visually-hidden"
        accept={capture === undefined ? ACCEPTED : 'image/*'}
        {...(capture === undefined ? {} : { capture })}
        data-testid={testId}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          // The same file may be chosen again after it was refused.
          if (file !== undefined) void onFile(file);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}
