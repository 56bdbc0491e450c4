/** DIDs of the wallet that can be the subject of a credential, or issue one: by the keys that they have. */
import type { Client } from '../../daemon/client/client.ts'
import { canonicalDid, factsOf } from '../../src/definitions/did-names.ts'
import type { Answer } from './api.ts'
import { isTokenFormat } from '../../src/definitions/format-names.ts'
import { UsageError } from '../errors/errors.ts'
import type { Did } from '../format/records.ts'
import { safeLine } from '../format/text.ts'

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
  const dids = await withoutHolderKeys(call, contents)
  return dids.length < 2 ? dids : havingKey(call, dids, 'authentication')
}

/** The published DIDs with an assertionMethod key, newest first, without those of held credentials. */
export async function findIssuers(call: Client): Promise<Did[]> {
  const { contents } = await call('GET /did-registrar/dids', { query: { limit: 1_000, order: 'desc' } })
  const published = contents.filter(({ status }) => status === 'PUBLISHED')
  return havingKey(call, await withoutHolderKeys(call, published), 'assertionMethod')
}

/** The error when several DIDs can be meant; `which` says what they can do. */
export function severalDids(dids: readonly Did[], flag: string, which = ''): UsageError {
  const lines = dids
    .slice(0, most)
    .map(({ did, label }) => `  ${safeLine([canonicalDid(did), label ?? []].flat().join('  '))}`)
  const rest = dids.length > most ? [`  and ${dids.length - most} more`] : []
  return new UsageError(
    [`The wallet has ${dids.length} DIDs${which}: name one with ${flag}.`, ...lines, ...rest].join('\n'),
    'agent did list',
  )
}

async function withoutHolderKeys(call: Client, dids: readonly Did[]): Promise<Did[]> {
  const active = dids.filter(({ deactivated }) => !deactivated)
  const taken = active.some(({ did }) => factsOf(did)?.managed?.isKey)
    ? await findHolderKeys(call)
    : undefined
  return active.filter(({ did }) => !taken?.has(did))
}

async function havingKey(call: Client, dids: Did[], purpose: Purpose): Promise<Did[]> {
  if (dids.length > most) return dids
  const able = await Promise.all(dids.map((did) => hasKey(call, did, purpose)))
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

type Purpose = 'authentication' | 'assertionMethod'

/**
 * True for a DID with a key for the purpose. A DID that does not resolve counts as such; the daemon reports
 * the error.
 */
async function hasKey(call: Client, { did, longFormDid = did }: Did, purpose: Purpose): Promise<boolean> {
  const resolved = await call('GET /dids/{didRef}', { path: { didRef: longFormDid } }).catch(() => undefined)
  const document = (resolved as { didDocument?: Partial<Record<Purpose, unknown[]>> } | undefined)
    ?.didDocument
  return document === undefined || (document[purpose] ?? []).length > 0
}
