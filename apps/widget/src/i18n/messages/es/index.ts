import account from './account.json' with { type: 'json' };
import buy from './buy.json' with { type: 'json' };
import common from './common.json' with { type: 'json' };
import order from './order.json' with { type: 'json' };

export default { ...common, ...buy, ...account, ...order };
