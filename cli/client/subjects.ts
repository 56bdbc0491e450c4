/** DIDs of the wallet that can be the subject of a credential: those that can authenticate. */
import type { Client } from '../../daemon/client/client.ts'
import { factsOf } from '../../src/definitions/did-names.ts'
import type { Answer } from './api.ts'
import { isTokenFormat } from '../../src/definitions/format-names.ts'
import { UsageError } from '../errors/errors.ts'
import type { Did } from '../format/records.ts'

/** The number of DIDs whose keys are checked. With more DIDs, the user chooses. */
const most = 10

/**
 * Whether the person chooses the subject of an offered credential: one of AnonCreds has none, and one of
 * OpenID4VCI gets a new key.
 */
export function needsSubject({
  credentialFormat,
  openid4vci,
}: Pick<Answer<'GET /issue-credentials/records/{recordId}'>, 'credentialFormat' | 'openid4vci'>): boolean {
  return isTokenFormat(credentialFormat) && openid4vci === undefined
}

/**
 * The DIDs with an authentication key, newest first, without those that were made for one credential of
 * OpenID4VCI.
 */
export async function findSubjects(call: Client): Promise<Did[]> {
  const { contents } = await call('GET /did-registrar/dids', { query: { limit: 1_000, order: 'desc' } })
  const active = contents.filter(({ deactivated }) => !deactivated)
  const taken = active.some(({ did }) => factsOf(did)?.managed?.isKey)
    ? await findHolderKeys(call)
    : undefined
  const dids = active.filter(({ did }) => !taken?.has(did))
  if (dids.length < 2 || dids.length > most) return dids
  const able = await Promise.all(dids.map((did) => canAuthenticate(call, did)))
  return dids.filter((_, index) => able[index])
}

/** The DIDs that received credentials of OpenID4VCI are bound to. */
async function findHolderKeys(call: Client): Promise<Set<string>> {
  const { contents } = await call('GET /issue-credentials/records', {
    query: { limit: 1_000, order: 'desc' },
  })
  return new Set(contents.flatMap(({ openid4vci, subjectId }) => (openid4vci ? (subjectId ?? []) : [])))
}

/** The error when the wallet has no such DID. */
export function noSubject(): UsageError {
  return new UsageError(
    'The wallet has no DID that can be the subject of the credential. Create one first.',
    'agent did create',
  )
}

/**
 * True for a DID with an authentication key. A DID that does not resolve counts as such; the daemon reports
 * the error.
 */
async function canAuthenticate(call: Client, { did, longFormDid = did }: Did): Promise<boolean> {
  const resolved = await call('GET /dids/{didRef}', { path: { didRef: longFormDid } }).catch(() => undefined)
  const document = (resolved as { didDocument?: { authentication?: unknown[] } } | undefined)?.didDocument
  return document === undefined || (document.authentication ?? []).length > 0
}
