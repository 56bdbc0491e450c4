/** `/wallets`: all wallets for the administrator, and its own wallet for a tenant. */
import * as z from 'zod'
import type { Config } from '../../src/foundation/config/config.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { Secret } from '../../src/foundation/secret.ts'
import { Passphrase } from '../../src/operations/wallet-export/envelope.ts'
import { CreateWallet, Name, optional, WalletDetail, Uuid } from '../../src/wallet/model.ts'
import { walletNotFound } from '../../src/foundation/storage/transferred.ts'
import { readStats, WalletStats } from '../../src/wallet/stats.ts'
import type { Wallets } from '../../src/wallet/wallets.ts'
import type { Agent } from '../../src/agent/agent.ts'
import {
  grantPermission,
  revokePermission,
  walletNotFoundById,
} from '../../src/wallet/bearer-tokens/permissions.ts'
import { createOwnWallet } from '../../src/wallet/bearer-tokens/own-wallet.ts'
import { Subject as LoginSubject, type Login } from '../../src/wallet/bearer-tokens/verify.ts'
import type { Admin, Subject, Tenant } from '../middleware/access.ts'
import { cut, Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const exportType = 'application/octet-stream' as const

const ExportWallet = z
  .object({
    passphrase: Passphrase.transform((text) => new Secret(text)),
    move: optional(z.boolean()).describe(
      'Suspends the wallet first, to transfer it to another agent. The export can be repeated.',
    ),
  })
  .meta({ id: 'ExportWalletRequest' })

/** HTTP header values are ASCII. */
const PassphraseHeader = z
  .base64url()
  .transform((text) => Buffer.from(text, 'base64url').toString('utf8'))
  .pipe(Passphrase)
  .transform((text) => new Secret(text))
  .describe('The passphrase in UTF-8, as base64url.')

const subjectText = 'The `sub` of the tokens. A Keycloak has UUIDs.'

const CreatePermission = z
  .object({ subject: LoginSubject.describe(subjectText) })
  .meta({ id: 'CreateWalletUmaPermissionRequest' })

const WalletPage = Page('WalletPage', WalletDetail, 'WalletDetailPage')

export default [
  route(
    'GET /wallets',
    {
      summary: 'List wallets',
      operationId: 'getWallets',
      access: 'admin-or-tenant',
      query: Paging,
      reply: [200, WalletPage],
    },
    async ({ wallets, caller }, { query, target }) => {
      const { wallets: contents, total } =
        caller.kind === 'admin' ? await wallets.list(query) : await own(wallets, caller, query)
      return toPage('WalletPage', { target, total, ...query }, contents)
    },
  ),

  route(
    'POST /wallets',
    {
      summary: 'Create a wallet',
      operationId: 'createWallet',
      access: 'admin-or-tenant',
      scopes: [],
      body: CreateWallet,
      reply: [201, WalletDetail],
    },
    async ({ agent, wallets, caller }, { body }) => {
      if (caller.kind === 'admin') return wallets.create(body)
      if (caller.kind === 'subject') return createOwnWallet(agent, caller.login, body)
      const detail = `A tenant has one wallet, and this one has ${caller.walletId} already. Only the administrator creates others.`
      throw new Problem('error:WalletManagementServiceError:TooManyPermittedWallet', detail)
    },
  ),

  route(
    'GET /wallets/{walletId}',
    {
      summary: 'Read a wallet',
      operationId: 'getWalletsWalletid',
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

  route(
    'GET /wallets/{walletId}/stats',
    {
      summary: 'Count what a wallet contains',
      operationId: 'getWalletStats',
      extension: true,
      access: 'admin-or-tenant',
      path: { walletId: Uuid },
      reply: [200, WalletStats],
    },
    async ({ wallets, caller }, { path: { walletId } }) => {
      if (!mayRead(caller, walletId)) throw walletNotFound(walletId)
      return wallets.use(walletId, (wallet) => readStats(wallet, wallets.folder.pathOf(walletId)))
    },
  ),

  route(
    'POST /wallets/{walletId}/uma-permissions',
    {
      summary: 'Give a subject of the OpenID provider access to a wallet',
      operationId: 'createWalletUmaPermission',
      access: 'admin-or-tenant',
      scopes: [],
      path: { walletId: Uuid },
      body: CreatePermission,
      reply: [200, null],
    },
    async ({ agent, caller }, { path: { walletId }, body: { subject } }) => {
      const login = loginOf(agent, subject)
      assertOwn(caller, walletId)
      await grantPermission(agent.db, login, walletId)
    },
  ),

  route(
    'DELETE /wallets/{walletId}/uma-permissions',
    {
      summary: 'Take access to a wallet from a subject of the OpenID provider',
      operationId: 'deleteWalletUmaPermission',
      access: 'admin-or-tenant',
      scopes: [],
      path: { walletId: Uuid },
      query: z.object({ subject: LoginSubject.describe(subjectText) }),
      reply: [200, null],
    },
    async ({ agent, caller }, { path: { walletId }, query: { subject } }) => {
      const login = loginOf(agent, subject)
      assertOwn(caller, walletId)
      await revokePermission(agent.db, login, walletId)
    },
  ),

  route(
    'DELETE /wallets/{walletId}',
    {
      summary: 'Delete a wallet for good, with its tenant and the tenant’s API keys',
      operationId: 'deleteWallet',
      extension: true,
      access: 'admin',
      path: { walletId: Uuid },
      reply: [200, null],
    },
    ({ agent }, { path: { walletId } }) => agent.deleteWallet(walletId),
  ),

  route(
    'POST /wallets/{walletId}/export',
    {
      summary: 'Export a wallet, encrypted with a passphrase',
      operationId: 'exportWallet',
      extension: true,
      access: 'admin',
      path: { walletId: Uuid },
      body: ExportWallet,
      media: [exportType],
      reply: [200, z.string().meta({ format: 'binary' })],
    },
    async ({ agent }, { path: { walletId }, body: { passphrase, move } }) => ({
      type: exportType,
      body: await agent.walletTransfer.export(walletId, { passphrase, isMoving: move }),
      headers: { 'Content-Disposition': `attachment; filename="${walletId}.wallet"` },
    }),
  ),

  route(
    'POST /wallets/import',
    {
      summary: 'Import a wallet that another agent has exported',
      operationId: 'importWallet',
      extension: true,
      access: 'admin',
      query: z.object({ id: optional(Uuid), name: optional(Name) }),
      headers: z.object({ 'x-passphrase': PassphraseHeader }),
      stream: { media: exportType, limit: (config: Config) => config.WALLET_IMPORT_MAX_BYTES },
      reply: [201, WalletDetail],
    },
    ({ agent }, { query, headers, stream }) =>
      agent.walletTransfer.import(stream, { ...query, passphrase: headers['x-passphrase'] }),
  ),

  route(
    'POST /wallets/{walletId}/resumption',
    {
      summary: 'Resume a wallet that was suspended for a transfer',
      operationId: 'resumeWallet',
      extension: true,
      access: 'admin',
      path: { walletId: Uuid },
      reply: [200, WalletDetail],
    },
    ({ wallets }, { path: { walletId } }) => wallets.resume(walletId),
  ),
] as const

/** For a tenant, the wallets of other tenants do not exist. */
function mayRead(caller: Admin | Tenant | Subject, walletId: string): boolean {
  return caller.kind === 'admin' || walletsOf(caller).includes(walletId)
}

function walletsOf(caller: Tenant | Subject): readonly string[] {
  return caller.kind === 'subject' ? caller.walletIds : [caller.walletId]
}

async function own(wallets: Wallets, caller: Tenant | Subject, paging: Paging) {
  const found = await Promise.all(walletsOf(caller).map((id) => wallets.find(id)))
  const all = found.filter((wallet) => wallet !== undefined)
  return { wallets: cut(all, paging), total: all.length }
}

/**
 * The subject of the operator's OpenID provider that a permission is for.
 *
 * @throws {Problem} `BadRequest` without a provider
 */
function loginOf({ bearerTokens }: Agent, subject: string): Login {
  if (bearerTokens) return { issuer: bearerTokens.settings.issuer, subject }
  throw new Problem(
    'BadRequest',
    'This agent has no OpenID provider whose subjects could get permissions (OIDC_ISSUER).',
    {
      title: 'BadRequest_FeatureDisabled',
    },
  )
}

/** A tenant grants access to its own wallets only. @throws {Problem} `WalletNotFoundById` */
function assertOwn(caller: Admin | Tenant | Subject, walletId: string): void {
  if (!mayRead(caller, walletId)) throw walletNotFoundById(walletId)
}
