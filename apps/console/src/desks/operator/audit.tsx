import { PageHead } from '../../ui/states.tsx';
import { AuditList } from './audit-entries.tsx';

export default function OperatorAudit() {
  return (
    <>
      <PageHead
        title="Audit log"
        about="What operators did, by whom and why. Nothing here can be changed or removed."
      />
      <AuditList />
    </>
  );
}
