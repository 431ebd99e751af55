import { useEffect, useState } from 'preact/hooks';
import { ApiError, type Estimate } from '../session/api.ts';
import type { Draft } from '../session/steps.ts';
import { api } from '../session/store.ts';
import { leftAfterRecovery } from '../ui/kit.tsx';
import { pricingInput } from './pricing.ts';

const AFTER_MS = 300;

export interface EstimateState {
  /** The last figures; while new ones are on their way they are kept, and `isCurrent` is false. */
  readonly figures: Estimate | null;
  readonly isCurrent: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

type Answer = { readonly key: string; readonly figures: Estimate | null; readonly error: unknown };

/** Figures for what is typed: asked for after a short pause, the call before is aborted, and no clock runs. */
export function useEstimate(draft: Draft, isComplete: boolean): EstimateState {
  const { side, anchor, amount, cryptoCurrency, fiatCurrency, country, rail, institution } = draft;
  const [round, setRound] = useState(0);
  const [answer, setAnswer] = useState<Answer>({ key: '', figures: null, error: null });
  const pair = [side, cryptoCurrency, fiatCurrency].join();
  const key = isComplete ? [pair, anchor, amount, country, rail, institution, round].join() : '';
  useEffect(() => {
    if (key === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const asked = api().estimate(pricingInput(draft), abort.signal);
      asked.then(
        (figures) => {
          if (!abort.signal.aborted) setAnswer({ key, figures, error: null });
        },
        async (error: unknown) => {
          if (abort.signal.aborted) return;
          const left = await leftAfterRecovery(error);
          if (left === null) setRound((before) => before + 1);
          else
            setAnswer((before) => ({
              key,
              figures: before.key.startsWith(`${pair},`) ? before.figures : null,
              error: left,
            }));
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  const retry = () => setRound((before) => before + 1);
  const error = answer.key === key ? answer.error : null;
  const isCutOff = error instanceof ApiError && error.code === 'NETWORK';
  useEffect(() => {
    if (!isCutOff) return;
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  }, [isCutOff]);
  const isCurrent = key !== '' && answer.key === key && answer.error === null;
  // Figures of another pair would only mislead.
  const isSamePair = answer.key.startsWith(`${pair},`);
  return {
    figures: key !== '' && isSamePair ? answer.figures : null,
    isCurrent,
    isLoading: key !== '' && answer.key !== key,
    error,
    retry,
  };
}
