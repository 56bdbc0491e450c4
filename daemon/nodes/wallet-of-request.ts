/** The wallet of a request to the HTTP API, as far as that is known before the request is handled. */
import type { Context } from 'koa'
import type { Agent } from '../../src/agent/agent.ts'
import { Secret } from '../../src/foundation/secret.ts'
import { mediatorId } from '../../src/cluster/ownership.ts'
import { peekWalletId } from '../../src/operations/wallet-export/peek.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { peekBearerWallet } from '../middleware/bearer.ts'
import { withoutBasePath } from '../middleware/base-path.ts'

/** Paths of requests about all wallets. One process handles them, one at a time. */
const rotationPath = '/_system/master-key/rotation'
const backupPath = '/_system/backups'
const walletPath = /^\/wallets\/([0-9a-f-]{36})(?:\/|$)/

/**
 * The wallet of an API key that this process knows, or the one that the administrator names. Undefined if the
 * request itself must be looked into: its handler finds the wallet. Agent-wide work is done where the
 * mediator is, except that each node makes the backups that it is asked for, on its own machine.
 */
export async function findWalletId(agent: Agent, ctx: Context): Promise<string | undefined> {
  const { query, headers } = ctx
  const { apikey } = headers
  const path = withoutBasePath(ctx.path)
  if (path === rotationPath) return mediatorId
  if (path === backupPath) return undefined
  if (typeof apikey === 'string' && apikey !== '')
    return agent.tenants.keys.peek(agent.tenants.keys.fingerprint(apikey))?.walletId
  const ofBearer = peekBearerWallet(agent, headers)
  if (ofBearer !== undefined) return ofBearer
  if (path === '/wallets/import') return findImported(agent, ctx)
  return toId(walletPath.exec(path)?.[1] ?? query['walletId'])
}

/**
 * The wallet that the administrator imports. The key of its file takes half a second to derive, so that
 * others get none derived.
 */
async function findImported(agent: Agent, { query, headers, req }: Context): Promise<string | undefined> {
  const { 'x-admin-api-key': token, 'x-passphrase': passphrase } = headers
  if (!agent.isAdminToken(token) || typeof passphrase !== 'string') return undefined
  return toId(
    query['id'] ??
      (await peekWalletId(req, new Secret(Buffer.from(passphrase, 'base64url').toString('utf8')))),
  )
}

function toId(named: unknown): string | undefined {
  return typeof named === 'string' && Uuid.safeParse(named).success ? named : undefined
}
