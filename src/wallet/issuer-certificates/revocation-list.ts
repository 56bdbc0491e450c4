/**
 * Publishes the lists of revoked certificates of development authorities. A list is signed on request, once a
 * day and after each revocation. Its content does not depend on the node that signs it.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Wallet } from '../wallet.ts'
import { getSigningAuthority, type MdocAuthority, type Revocations } from './authorities.ts'
import { loadX509 } from './certificates.ts'

const dayMs = 86_400_000

/** The time from `thisUpdate` to `nextUpdate`. */
const lifetimeMs = 7 * dayMs

/** `etag` is an entity tag (RFC 9110 §8.8.3). */
export type PublishedCrl = { body: Buffer; etag: string }

const published = new LRUCache<string, { version: number; list: Promise<PublishedCrl> }>({ max: 1_000 })

/** The signed list of an authority, in DER. @throws {Problem} `NotFound` */
export async function publishCrl(wallet: Wallet, id: string): Promise<PublishedCrl> {
  const authority = await getSigningAuthority(wallet, id)
  const changedAt = Date.parse(authority.revoked.at(-1)?.revokedAt ?? new Date(0).toISOString())
  const version = Math.max(Math.floor(Date.now() / dayMs) * dayMs, changedAt)
  const cached = published.get(id)
  if (cached?.version === version) return cached.list
  const list = sign(authority, version)
  published.set(id, { version, list })
  list.catch(() => published.get(id)?.list === list && published.delete(id))
  return list
}

async function sign(
  { certificate, key, revoked }: MdocAuthority & { revoked: Revocations },
  version: number,
): Promise<PublishedCrl> {
  const { issueList } = await loadX509()
  const thisUpdate = new Date(version)
  const body = await issueList(
    { certificate, key },
    { number: version / 1_000, thisUpdate, nextUpdate: new Date(version + lifetimeMs), revoked },
  )
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}
