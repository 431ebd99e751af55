import {
  IconApi,
  IconCoins,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { DeskPages } from '../pages.ts';

export const VENDOR: DeskPages = {
  desk: 'vendor',
  title: 'Vendor',
  pages: [
    {
      path: 'orders',
      title: 'Orders',
      load: () => import('./orders.tsx'),
      menu: { icon: IconListDetails, section: 'Work' },
    },
    { path: 'orders/$orderId', title: 'Order', load: () => import('./order.tsx') },
    {
      path: 'offers',
      title: 'Offers',
      load: () => import('./offers.tsx'),
      menu: { icon: IconCoins, section: 'Work' },
    },
    {
      path: 'earnings',
      title: 'Earnings',
      load: () => import('./earnings.tsx'),
      menu: { icon: IconReceipt, section: 'Money' },
    },
    {
      path: 'keys',
      title: 'API keys',
      load: () => import('../../account/own-keys.tsx'),
      menu: { icon: IconKey, section: 'Account' },
    },
    {
      path: 'requests',
      title: 'API log',
      load: () => import('./requests.tsx'),
      menu: { icon: IconApi, section: 'Account' },
    },
    {
      path: 'team',
      title: 'Team',
      load: () => import('../../account/team.tsx'),
      menu: { icon: IconUsersGroup, section: 'Account' },
    },
  ],
};
