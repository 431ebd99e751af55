export {
  type CatalogueSummary,
  type SummaryFiat,
  type SummaryRail,
  sandboxOffers,
} from './sandbox-offers.ts';
