/** The DIDs of a wallet that can sign for others to check: to choose one, or to make the first. */
import { isPublicUrl } from '../../foundation/net/public-url.ts'
import type { AgentDb, Db } from '../../foundation/storage/database.ts'
import { createCheckpoint } from '../../foundation/checkpoint.ts'
import type { Wallet } from '../wallet.ts'
import { readContent } from './dids.ts'
import { createDid } from './registrar.ts'

type Purpose = 'authentication' | 'assertionMethod'

/** The published, active DIDs with a key for the purpose, oldest first, without the keys of held credentials. */
export async function listSigners(db: Db, purpose: Purpose): Promise<string[]> {
  const rows = await db
    .selectFrom('did')
    .select(['did', 'state'])
    .where('status', '=', 'PUBLISHED')
    .orderBy('did_index')
    .execute()
  const checkpoint = createCheckpoint()
  const signers: string[] = []
  for (const { did, state } of rows) {
    await checkpoint()
    const { deactivated, ofHolder, publicKeys } = readContent(state)
    if (!deactivated && !ofHolder && publicKeys.some(({ usage }) => usage === purpose)) signers.push(did)
  }
  return signers
}

/**
 * Makes a DID that wallets on phones can read: a did:web if everybody can read its document over https, or
 * else a did:jwk, which is its key.
 */
export function createSigner(wallet: Wallet, db: AgentDb): Promise<string> {
  const { rest } = wallet.env.urls
  const none = { internalKeys: [], services: [], contexts: [] }
  if (!rest.startsWith('https:') || !isPublicUrl(rest))
    return createDid(wallet, { method: 'jwk', documentTemplate: { publicKeys: [], ...none } }, db)
  const publicKeys = (['authentication', 'assertionMethod'] as const).map((purpose) => ({
    id: purpose,
    purpose,
    curve: 'P-256' as const,
  }))
  return createDid(wallet, { method: 'web', documentTemplate: { publicKeys, ...none } }, db)
}
