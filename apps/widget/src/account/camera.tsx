import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { Button, Spinner } from '../ui/kit.tsx';
import { jpegOf } from './images.ts';

export type CameraProblem = 'blocked' | 'missing' | 'busy';

/** Whether this page may ask for a camera at all; a page that embeds the frame may have kept it from it. */
export function hasCamera(): boolean {
  return typeof navigator.mediaDevices?.getUserMedia === 'function';
}

export function cameraProblemOf(thrown: unknown): CameraProblem {
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'blocked';
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'missing';
}

type CameraProps = {
  /** The document is in front of the back camera, the person in front of the other. */
  readonly facing: 'environment' | 'user';
  readonly onPhoto: (photo: Blob) => void;
  readonly onClose: () => void;
  readonly onProblem: (problem: CameraProblem) => void;
};

/** The camera in the page: what it sees, a photo of it, and the choice to take another. It is off as soon as it is left. */
export function Camera({ facing, onPhoto, onClose, onProblem }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [isLive, setLive] = useState(false);
  const [photo, setPhoto] = useState<{ readonly blob: Blob; readonly url: string } | null>(null);

  useEffect(() => {
    let stream: MediaStream | null = null;
    let isLeft = false;
    const start = async () => {
      try {
        stream = await navigator.mediaDevices.getUserMedia({
          audio: false,
          video: { facingMode: facing, width: { ideal: 1920 }, height: { ideal: 1080 } },
        });
      } catch (thrown) {
        if (!isLeft) onProblem(cameraProblemOf(thrown));
        return;
      }
      if (isLeft || video.current === null) return stop(stream);
      video.current.srcObject = stream;
      await video.current.play().catch(() => undefined);
      setLive(true);
    };
    void start();
    return () => {
      isLeft = true;
      if (stream !== null) stop(stream);
    };
  }, [facing]);
  useEffect(() => () => void (photo === null ? undefined : URL.revokeObjectURL(photo.url)), [photo]);

  const capture = async () => {
    const { current } = video;
    if (current === null || current.videoWidth === 0) return;
    const canvas = document.createElement('canvas');
    canvas.width = current.videoWidth;
    canvas.height = current.videoHeight;
    canvas.getContext('2d')?.drawImage(current, 0, 0);
    const blob = await jpegOf(canvas, 0.92);
    setPhoto({ blob, url: URL.createObjectURL(blob) });
  };

  return (
    <div class="stack tight" data-testid="camera">
      <video
        ref={video}
        class={facing === 'user' ? 'camera mirrored' : 'camera'}
        hidden={photo !== null}
        muted
        playsInline
        aria-label={t('kyc.camera.label')}
      />
      {photo === null ? null : <img class="camera" src={photo.url} alt={t('kyc.camera.preview')} />}
      <div class="actions">
        {photo === null ? (
          <Button disabled={!isLive} onClick={capture} testId="camera-capture">
            {isLive ? t('kyc.camera.capture') : t('kyc.camera.starting')}
            {isLive ? null : <Spinner />}
          </Button>
        ) : (
          <>
            <Button onClick={() => onPhoto(photo.blob)} testId="camera-use">
              {t('kyc.camera.use')}
            </Button>
            <Button kind="secondary" onClick={() => setPhoto(null)} testId="camera-retake">
              {t('kyc.document.retake')}
            </Button>
          </>
        )}
        <Button kind="link" onClick={onClose} testId="camera-close">
          {t('kyc.camera.close')}
        </Button>
      </div>
    </div>
  );
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
