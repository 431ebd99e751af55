import { api } from '../../api/client.ts';
import { PageHead } from '../../ui/states.tsx';
import { KeyList } from './key-list.tsx';

export default function OperatorKeys() {
  return (
    <>
      <PageHead
        title="API keys"
        about="Keys of your own programs. Each may do everything an operator may, so give one to each program and revoke what is not used."
      />
      <KeyList
        queryKey={['operator', 'keys']}
        operation="createOperatorKey"
        load={async (page, signal) => {
          const { keys, pagination } = await api.operator.keys.list(page, { signal });
          return { rows: keys, total: pagination.total };
        }}
        create={({ label, reason }) => api.operator.keys.create({ label, ...(reason ? { reason } : {}) })}
      />
    </>
  );
}
