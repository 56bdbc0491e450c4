/** What commands print of connections. */
import type { Answer } from '../client/api.ts'
import { shownState } from './states.ts'
import { whenAgo } from './time.ts'

export type Connection = Answer<'GET /connections/{connectionId}'>

/** A connection as names and values. */
export function connectionFields(shown: Connection): [name: string, value: unknown][] {
  const { connectionId, role, state, automaticAcceptance, metaLastFailure } = shown
  return [
    ['connection', connectionId],
    ['role', role],
    ['state', shownState('connection', state)],
    ['label', shown.label],
    ['goal', shown.goal],
    ['my DID', shown.myDid],
    ['their DID', shown.theirDid],
    ['offers', automaticAcceptance && acceptedOffers(automaticAcceptance)],
    ['created', whenAgo(shown.createdAt, Date.now())],
    ['updated', shown.updatedAt && whenAgo(shown.updatedAt, Date.now())],
    ['last failure', metaLastFailure?.detail ?? metaLastFailure?.title],
  ]
}

/** Which offers are accepted without a person, in words. */
export function acceptedOffers(rule: NonNullable<Connection['automaticAcceptance']>): string {
  const { subjectId, keyId, credentialFormats, schemaIds, trustedIssuers } = rule
  const which = [...(credentialFormats ?? []), ...(schemaIds ?? [])]
  const what = which.length > 0 ? `those of ${which.join(', ')}` : 'all'
  const about = subjectId === undefined ? '' : `, about ${subjectId}`
  const kept = trustedIssuers ? `; credentials of ${trustedIssuers.join(' or ')} alone are kept` : ''
  return `${what} accepted without a person${about}${keyId === undefined ? '' : ` with the key ${keyId}`}${kept}`
}
