import { t } from '../i18n/i18n.ts';
import { failure } from '../session/store.ts';
import { Button, Heading, Notice } from '../ui/kit.tsx';

/** Why there is no session, and a way on where trying again can help. */
function reasonOf(): { readonly words: string; readonly canRetry: boolean } {
  const error = failure.value;
  const { code } = (error?.details ?? {}) as { readonly code?: string };
  if (error?.status === 401 || code === 'WIDGET_SESSION_NOT_FOUND')
    return { words: t('unavailable.expired'), canRetry: false };
  if (code === 'UNAUTHORIZED') return { words: t('unavailable.key'), canRetry: false };
  if (code === 'ORIGIN_NOT_ALLOWED' || code === 'FORBIDDEN')
    return { words: t('unavailable.not_allowed'), canRetry: false };
  if (code === 'VALIDATION_ERROR' || code?.startsWith('UNSUPPORTED') === true)
    return { words: t('unavailable.settings', { message: error?.message ?? '' }), canRetry: false };
  if (code === 'NETWORK') return { words: t('unavailable.network'), canRetry: true };
  return { words: t('unavailable.other'), canRetry: true };
}

export function UnavailableScreen() {
  const { words, canRetry } = reasonOf();
  const requestId = failure.value?.requestId ?? null;
  return (
    <div class="screen">
      <Heading>{t('unavailable.title')}</Heading>
      <Notice kind="danger" testId="problem">
        <p>{words}</p>
        {requestId === null ? null : <p class="hint">{t('problem.reference', { id: requestId })}</p>}
      </Notice>
      {canRetry ? (
        <Button testId="try-again" onClick={() => location.reload()}>
          {t('unavailable.retry')}
        </Button>
      ) : null}
    </div>
  );
}
