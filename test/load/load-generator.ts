import { answerParent } from '../soak/load-process.ts';
import { createPartnerLoad, type LoadRound } from './partner-requests.ts';
import { type PreparedLoad, preparePartners } from './prepare-partners.ts';

/** A process of its own that makes the partners of a deployment and sends their requests. */
let load: ReturnType<typeof createPartnerLoad>;

answerParent({
  async prepare(given: PreparedLoad) {
    load = createPartnerLoad(given.baseUrl, await preparePartners(given));
  },
  round: (given: LoadRound) => load.round(given),
});
