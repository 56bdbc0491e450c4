/** `/wallets` (service §4.1, api.md 3.4, 4.2): the administrator's, and of a tenant its own. */
import { Problem } from '../../src/base/problem.ts'
import { CreateWallet, WalletDetail, Uuid } from '../../src/wallet/model.ts'
import type { Wallets } from '../../src/wallet/wallets.ts'
import type { Admin, Tenant } from '../middleware/access.ts'
import { cut, Page, Paging, toPage } from '../page.ts'
import { route } from '../route.ts'

const WalletPage = Page('WalletPage', WalletDetail, 'WalletDetailPage')

export default [
  route(
    'GET /wallets',
    {
      summary: 'List wallets',
      access: 'admin-or-tenant',
      query: Paging,
      reply: [200, WalletPage],
    },
    async ({ wallets, caller }, { query, target }) => {
      const { wallets: contents, total } = caller.kind === 'admin' ? await wallets.list(query) : await own(wallets, caller, query)
      return toPage('WalletPage', { target, total, ...query }, contents)
    },
  ),

  route(
    'POST /wallets',
    {
      summary: 'Create a wallet',
      access: 'admin-or-tenant',
      scopes: [],
      body: CreateWallet,
      reply: [201, WalletDetail],
    },
    async ({ wallets, caller }, { body }) => {
      if (caller.kind === 'admin') return wallets.create(body)
      const detail = `A tenant has one wallet, and this one has ${caller.walletId} already. Only the administrator creates others.`
      throw new Problem('error:WalletManagementServiceError:TooManyPermittedWallet', detail)
    },
  ),

  route(
    'GET /wallets/{walletId}',
    {
      summary: 'Read a wallet',
      access: 'admin-or-tenant',
      path: { walletId: Uuid },
      reply: [200, WalletDetail],
    },
    async ({ wallets, caller }, { path: { walletId } }) => {
      const wallet = mayRead(caller, walletId) ? await wallets.find(walletId) : undefined
      if (!wallet) throw new Problem('NotFound', `There is no wallet ${walletId}.`)
      return wallet
    },
  ),
] as const

/** What is somebody else's is answered like what does not exist. */
function mayRead(caller: Admin | Tenant, walletId: string): boolean {
  return caller.kind === 'admin' || caller.walletId === walletId
}

async function own(wallets: Wallets, { walletId }: Tenant, paging: Paging) {
  const wallet = await wallets.find(walletId)
  const all = wallet ? [wallet] : []
  return { wallets: cut(all, paging), total: all.length }
}
