import {
  type New,
  type NoFacts,
  type RecipientStatus,
  type RecipientTrigger,
  recipientMachine,
  type ScreeningStatus,
  type ScreeningTrigger,
  screeningMachine,
} from '@causeway/protocol';
import type { MachineHost } from '../../engine/execute.ts';
import { type RecipientRow, setRecipientStatus, setScreening } from './recipient.store.ts';

/** A recipient on its way through its two machines; a new one has no status yet, and its row is written afterwards. */
export type RecipientSubject = Omit<RecipientRow, 'status' | 'screening_status'> & {
  readonly status: RecipientStatus | New;
  readonly screening_status: ScreeningStatus | New;
  readonly isNew: boolean;
};

const movesNoMoney = (): never => {
  throw new Error('a recipient moves no money and sends no event');
};

export const recipientHost: MachineHost<RecipientSubject, RecipientStatus, RecipientTrigger, NoFacts, never> =
  {
    machine: recipientMachine,
    statusOf: ({ status }) => status,
    factsOf: () => ({}),
    write(unit, subject, { status, statusChanged }) {
      if (!subject.isNew && statusChanged) {
        unit.tx.defer(setRecipientStatus, [subject.recipient_id, status, unit.at]);
      }
      return { ...subject, status, updated_at: unit.at };
    },
    eventFor: movesNoMoney,
    intentFor: movesNoMoney,
    entryFor: movesNoMoney,
  };

export const screeningHost: MachineHost<RecipientSubject, ScreeningStatus, ScreeningTrigger, NoFacts, never> =
  {
    machine: screeningMachine,
    statusOf: ({ screening_status }) => screening_status,
    factsOf: () => ({}),
    write(unit, subject, { status, transition }) {
      // A result that was asked for earlier must not be taken for the one that is asked for now.
      const asked = transition.on === 'screening_requested' ? 1 : 0;
      const screening_round = subject.screening_round + asked;
      if (!subject.isNew) {
        unit.tx.defer(setScreening, [subject.recipient_id, status, screening_round, unit.at]);
      }
      return { ...subject, screening_status: status, screening_round, updated_at: unit.at };
    },
    eventFor: movesNoMoney,
    intentFor({ recipient_id, partner_id: partnerId, screening_round: round, ...subject }, effect) {
      if (effect === 'recipient.screen') {
        const payload = { recipient_id, round };
        return { kind: effect, dedupeKey: `${recipient_id}:${round}`, partnerId, payload };
      }
      return {
        kind: effect,
        dedupeKey: `${recipient_id}:${subject.screening_status}:${subject.updated_at.getTime()}`,
        partnerId,
        payload: { subject_kind: 'recipient', subject_key: recipient_id },
      };
    },
    entryFor: movesNoMoney,
  };
