/** Formats credential records, connections and DIDs. */
import { canonicalDid } from '../../src/definitions/did-names.ts'
import { isTokenFormat, traitsOf } from '../../src/definitions/format-names.ts'
import type { Answer } from '../client/api.ts'
import { partOf } from '../input/credential.ts'
import { disclosableOf, shownStanding, validityOf, type CredentialContent } from './credential.ts'
import { inStyle, type Styled } from './colour.ts'
import { type Expiring, isExpired, listedState, shownState } from './states.ts'
import { labelledClaims, lookPairs } from './look.ts'
import { localesOf } from './locale.ts'
import { reporterOf, shownFailure, usedOffer } from './failures.ts'
import { type Names, partnerInCredential } from './parties.ts'
import { safeLine } from './text.ts'
import { ago, inUnits, whenAhead, whenAgo } from './time.ts'

export type CredentialRecord = Answer<'GET /issue-credentials/records/{recordId}'>
type Pair = readonly [name: string, value: unknown]

/** `names`: those of connections, if they are known. `wanted`: the languages of the reader. */
export function credentialFields(
  record: CredentialRecord,
  content?: CredentialContent,
  names?: Names,
  wanted = localesOf(),
): Pair[] {
  const look = record.openid4vci?.look
  return [
    ['credential', record.recordId],
    ...lookPairs(look, wanted),
    ['role', record.role],
    ['state', shownState('credential', record.protocolState, record)],
    ['expires', expiryField(record)],
    ['status', content && !record.revoked ? shownStanding(content) : statusOf(record)],
    ['validity', content && validityOf(content, Date.now())],
    ['format', credentialFormatOf(record)],
    ...labelledClaims(content?.claims ?? record.claims, look, wanted),
    ['disclosable', content && disclosableOf(content)],
    ['issuer', content?.issuer ?? record.issuingDID],
    [record.role === 'Holder' ? 'offered by' : 'offered to', partnerField(record, names)],
    ['subject', canonicalDid(content?.subject ?? record.subjectId ?? '') || undefined],
    [hasType(record) ? 'type' : 'schemas', content?.schemas.join(' ') || undefined],
    ['definition', content?.definition],
    ['goal', record.goal],
    [
      'valid for',
      content || record.validityPeriod === undefined ? undefined : inUnits(record.validityPeriod),
    ],
    ['delivery', deliveryField(record)],
    ['thread', record.thid],
    ['created', whenAgo(record.createdAt, Date.now())],
    ['updated', record.updatedAt && whenAgo(record.updatedAt, Date.now())],
    ['last failure', shownFailure(record, reporterOf(record, names))],
    ['offer', usedOffer(record)],
    ['renewal', renewalField(record)],
    ...issuedFields(record),
  ]
}

/** Issuer, OpenID4VCI: the copies of the wallet, their renewals, and the last notification. */
function issuedFields({ instances = [], renewed, notification }: CredentialRecord): Pair[] {
  const until = instances.at(-1)?.expiresAt
  const newest = until === undefined ? '' : `; the newest ends ${whenAhead(until, Date.now())}`
  return [
    ['copies', instances.length === 0 ? undefined : `${instances.length}${newest}`],
    ['renewals', renewed && `${renewed.count}, last ${whenAgo(renewed.at, Date.now())}`],
    ['wallet said', notification && notificationText(notification)],
  ]
}

function notificationText({ event, description, at }: NonNullable<CredentialRecord['notification']>): string {
  const words = description === undefined ? '' : `: ${safeLine(description)}`
  return `${event}${words}, ${whenAgo(at, Date.now())}`
}

/** Claims that the last renewal changed, with their values before and after. */
export function changedFields({ openid4vci }: CredentialRecord): Pair[] {
  const { renewedAt, changes = [] } = openid4vci?.renewal ?? {}
  if (renewedAt === undefined) return [['changes', 'the credential was not renewed yet']]
  if (changes.length === 0) return [['changes', 'none by the last renewal']]
  const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))
  return changes.map(({ name, before, after }): Pair => [
    'changed',
    `${name}: ${text(before)} → ${text(after)}`,
  ])
}

/** How far the renewal of a held credential is. */
function renewalField({ openid4vci }: CredentialRecord): string | undefined {
  const { state, dueAt, reason } = openid4vci?.renewal ?? {}
  if (state === undefined || state === 'none') return undefined
  const when = dueAt === undefined ? '' : `, by itself ${whenAhead(dueAt, Date.now())}`
  return `${state}${when}${reason === undefined ? '' : `: ${safeLine(reason)}`}`
}

/** The issuer of an OpenID4VCI offer, or the other side, if the name of its connection is known. */
function partnerField(record: CredentialRecord, names: Names | undefined): string | undefined {
  if (record.openid4vci) return record.openid4vci.credentialIssuer
  if (record.connectionId !== undefined && !names) return undefined
  return partnerInCredential(record, names ?? new Map())
}

/** Which messages of an offer were asked for, and what became of them. */
function deliveryField({ delivery }: CredentialRecord): string | undefined {
  if (!delivery) return undefined
  const messages = Object.entries({ link: delivery.link, code: delivery.code })
  const shown = messages.map(
    ([kind, message]) =>
      message &&
      `${kind} to ${safeLine(message.to)} ${message.status}${message.reason === undefined ? '' : `: ${safeLine(message.reason)}`}`,
  )
  return shown.filter((each) => each !== undefined).join('; ')
}

/** Whether the credential has one type, instead of schemas. */
function hasType({ credentialFormat }: CredentialRecord): boolean {
  const { configurationMember } = traitsOf(credentialFormat).openid ?? {}
  return configurationMember === 'vct' || configurationMember === 'doctype'
}

/** Until when a record waits for an answer. */
export function expiryField(record: Expiring): string | Styled | undefined {
  const { expiresAt } = record
  if (expiresAt === undefined) return undefined
  const when = whenAhead(expiresAt, Date.now())
  return isExpired(record) ? inStyle('faint', when) : when
}

/**
 * Returns the expiry time of an issued credential in milliseconds since 1970. Undefined if it never expires,
 * or is not a JWT or an SD-JWT.
 */
export function expiryOf({ credential, credentialFormat }: CredentialRecord): number | undefined {
  if (credential === undefined || !isTokenFormat(credentialFormat)) return undefined
  const { exp } = payloadOf(credential)
  return typeof exp === 'number' ? exp * 1_000 : undefined
}

/** The payload of a JWT or an SD-JWT in the base64url of a record. */
function payloadOf(credential: string) {
  return partOf(Buffer.from(credential, 'base64').toString(), 1)
}

/**
 * Returns `revoked` or `suspended`, if the issuer has reported it or its list said so, and when the list was
 * read.
 */
export function invalidityOf(
  { revoked, standing }: CredentialRecord,
  now = Date.now(),
): { word: string; checked?: string } | undefined {
  if (revoked) return { word: 'revoked' }
  if (!standing || standing.status === 'not-revoked') return undefined
  return { word: standing.status, checked: ago(standing.checkedAt, now) }
}

/** Returns the coloured state of a credential in a list: what makes it invalid comes with it. */
export function shortCredentialState(record: CredentialRecord): Styled {
  const { protocolState: state } = record
  const invalidity = invalidityOf(record)
  if (invalidity) {
    const { word, checked } = invalidity
    return inStyle('bad', `${state}, ${word}${checked === undefined ? '' : ` (checked ${checked})`}`)
  }
  if ((expiryOf(record) ?? Infinity) <= Date.now()) return inStyle('faint', `${state}, expired`)
  return listedState('credential', state, record)
}

/** Returns the revocation status that this side knows. */
function statusOf(record: CredentialRecord): string | Styled | undefined {
  const { role, revoked, revokedAt, credential } = record
  if (revoked)
    return inStyle(
      'bad',
      role === 'Issuer' ? `revoked on ${revokedAt}` : `revoked on ${revokedAt} (by the issuer)`,
    )
  const invalidity = invalidityOf(record)
  if (invalidity) return inStyle('bad', `${invalidity.word} (checked ${invalidity.checked})`)
  return credential === undefined
    ? undefined
    : role === 'Issuer'
      ? 'not revoked'
      : 'not revoked, as far as the issuer has said'
}

/** Describes the format. The payload of an SD-JWT tells if it is bound to a key. */
function credentialFormatOf({ credentialFormat, credential }: CredentialRecord): string {
  const { summary, openid } = traitsOf(credentialFormat)
  if (!openid?.hasKeyBinding || credential === undefined) return summary
  const isBound = 'cnf' in payloadOf(credential)
  return `${summary}, ${isBound ? 'bound to a key of the holder' : 'not bound to a key, so any possessor can present it'}`
}

export type Connection = Answer<'GET /connections/{connectionId}'>

export function connectionFields(shown: Connection): [name: string, value: unknown][] {
  const { connectionId, role, state, automaticAcceptance } = shown
  return [
    ['connection', connectionId],
    ['role', role],
    ['state', shownState('connection', state, shown)],
    ['expires', expiryField(shown)],
    ['label', shown.label],
    ['goal', shown.goal],
    ['my DID', shown.myDid],
    ['their DID', shown.theirDid],
    ['offers', automaticAcceptance && acceptedOffers(automaticAcceptance)],
    ['created', whenAgo(shown.createdAt, Date.now())],
    ['updated', shown.updatedAt && whenAgo(shown.updatedAt, Date.now())],
    ['last failure', shownFailure(shown)],
  ]
}

/** Describes the offers that are accepted automatically. */
export function acceptedOffers(rule: NonNullable<Connection['automaticAcceptance']>): string {
  const { subjectId, keyId, credentialFormats, schemaIds, trustedIssuers } = rule
  const which = [...(credentialFormats ?? []), ...(schemaIds ?? [])]
  const what = which.length > 0 ? `those of ${which.join(', ')}` : 'all'
  const about = subjectId === undefined ? '' : `, about ${subjectId}`
  const kept = trustedIssuers ? `; credentials of ${trustedIssuers.join(' or ')} alone are kept` : ''
  return `${what} accepted without a person${about}${keyId === undefined ? '' : ` with the key ${keyId}`}${kept}`
}

export type Did = Answer<'GET /did-registrar/dids/{didRef}'>

const meanings = {
  CREATED: 'not on the ledger',
  PUBLICATION_PENDING: 'on its way to the ledger',
  PUBLISHED: undefined,
} as const

/** Describes the state of a DID, such as `PUBLISHED (a change is on its way to the ledger)`. */
export function explainDid({ status, deactivated, pendingOperation }: Did): string {
  const change =
    pendingOperation !== undefined && status === 'PUBLISHED'
      ? 'a change is on its way to the ledger'
      : undefined
  const meaning = deactivated ? 'deactivated for good' : (change ?? meanings[status])
  return meaning === undefined ? status : `${status} (${meaning})`
}

/** Returns the coloured `explainDid`. */
export function shownDid(did: Did): Styled {
  const isOver = did.deactivated || (did.status === 'PUBLISHED' && did.pendingOperation === undefined)
  return inStyle(did.deactivated ? 'bad' : isOver ? 'good' : 'waiting', explainDid(did))
}

/** Returns the fields of a DID. */
export function didFields(did: Did): Pair[] {
  const { pendingOperation, metaLastFailure: failure } = did
  return [
    ['did', did.did],
    ['label', did.label],
    ['long form', did.longFormDid],
    ['state', shownDid(did)],
    ['operation', pendingOperation],
    [pendingOperation === undefined ? 'last failure' : 'delayed by', failure?.detail ?? failure?.title],
  ]
}

export function nextForDid({ did, status, deactivated, pendingOperation }: Did): string {
  if (deactivated) return 'agent did create'
  if (pendingOperation !== undefined) return `agent did show ${did}   # again, once the ledger has judged`
  return status === 'CREATED' ? `agent did publish ${did}` : `agent did resolve ${did}`
}
