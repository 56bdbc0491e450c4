/** DIDs of the wallet that a credential can be about: those that can sign for their holder. */
import type { Client } from '../../daemon/client/client.ts'
import { UsageError } from '../errors/errors.ts'
import type { Did } from '../format/records.ts'

/** How many DIDs are looked at for their keys; of more, a person says which. */
const most = 10

/** The DIDs with an authentication key, the newest first. */
export async function findSubjects(call: Client): Promise<Did[]> {
  const { contents } = await call('GET /did-registrar/dids', { query: { limit: 1_000, order: 'desc' } })
  const dids = contents.filter(({ deactivated }) => !deactivated)
  if (dids.length < 2 || dids.length > most) return dids
  const able = await Promise.all(dids.map((did) => canAuthenticate(call, did)))
  return dids.filter((_, index) => able[index])
}

/** The error of a wallet that has no such DID. */
export function noSubject(): UsageError {
  return new UsageError(
    'The wallet has no DID that the credential could be about. Make one first.',
    'agent did create',
  )
}

/** A DID that does not resolve is left to the daemon to judge. */
async function canAuthenticate(call: Client, { did, longFormDid = did }: Did): Promise<boolean> {
  const resolved = await call('GET /dids/{didRef}', { path: { didRef: longFormDid } }).catch(() => undefined)
  const document = (resolved as { didDocument?: { authentication?: unknown[] } } | undefined)?.didDocument
  return document === undefined || (document.authentication ?? []).length > 0
}
