/** States of records in words, the next command, and the texts of `--wait`. */
import { definitions, type RecordTopic } from '../../src/definitions/protocols.ts'
import type { State } from '../../src/definitions/machine.ts'
import { inStyle, type Style, type Styled } from './colour.ts'
import { ago, ahead } from './time.ts'

export type Topic = RecordTopic

export type Definition = (typeof definitions)[number]

/** The meanings of states, by topic and state. */
export const meanings = Object.fromEntries(
  definitions.map(({ topic, states }) => [topic, states]),
) as Readonly<Record<Topic, Readonly<Record<string, State>>>>

export function definitionOf(topic: Topic): Definition {
  return definitions.find((each) => each.topic === topic)!
}

/**
 * Returns the states that a command, such as `credential accept`, expects of its record. Empty if it accepts
 * all.
 */
export function expectedStates(command: string): string[] {
  const states = definitions.flatMap((each) => Object.entries<State>(each.states))
  return states.flatMap(([state, { commands }]) => (commands?.includes(command) ? [state] : []))
}

/** The part of a record that tells whether it still waits for an answer. */
export type Expiring = { expiresAt?: string | undefined }

/** Returns true if an invitation, an offer or a request was not answered in time. `now` is in milliseconds. */
export function isExpired({ expiresAt }: Expiring, now = Date.now()): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now
}

/** Returns `expired 23 min ago`, if a record has expired. */
export function expiredWords(record: Expiring, now = Date.now()): string | undefined {
  return isExpired(record, now) ? `expired ${ago(record.expiresAt!, now)}` : undefined
}

/** Returns when an open invitation, offer or request expires, such as `in 13 d`. */
export function expiresCell(record: Expiring): string | undefined {
  const now = Date.now()
  return record.expiresAt === undefined || isExpired(record, now) ? undefined : ahead(record.expiresAt, now)
}

export function isMine(topic: Topic, state: string, record: Expiring = {}): boolean {
  const { next, ends } = meanings[topic][state] ?? {}
  return next !== undefined && ends === undefined && !isExpired(record)
}

/** Returns the invitation of a record, if it can still be accepted. */
export function openInvitation<Invitation>(
  state: string,
  record: Expiring & { invitation?: Invitation | undefined },
): Invitation | undefined {
  return state === 'InvitationGenerated' && !isExpired(record) ? record.invitation : undefined
}

/** Returns true for a connection that can be used. */
export function isConnected({ state = '' }: { state?: string | undefined }): boolean {
  return meanings.connection[state]?.ends === 0
}

/**
 * Describes a state, such as `OfferSent (waiting for the holder to accept the offer)`, or says that the
 * record has expired. `topic` is that of any event, `now` in milliseconds.
 */
export function explain(topic: string, state: string, record: Expiring = {}, now = Date.now()): string {
  const words = expiredWords(record, now) ?? meanings[topic as Topic]?.[state]?.words
  return words === undefined ? state : `${state} (${words})`
}

/** Returns the style of a state: finished or valid, failed, expired, waiting for this side, or in progress. */
export function styleOf(topic: Topic, state: string, record: Expiring = {}, now = Date.now()): Style {
  if (isExpired(record, now)) return 'faint'
  const { ends, isExpired: hasExpired, isGood } = meanings[topic][state] ?? {}
  if (isGood) return 'good'
  if (ends === undefined) return isMine(topic, state) ? 'waiting' : 'running'
  return ends === 0 ? 'good' : hasExpired ? 'faint' : 'bad'
}

const openingRoles: readonly string[] = definitions.map(({ rows }) => rows[0][0])

/** Returns the style of a role. The one that invites, issues or verifies is coloured. */
export function styleOfRole(role: string): Style | undefined {
  return openingRoles.includes(role) ? 'role' : undefined
}

/** Returns the coloured state of a record in a list, or that it has expired. */
export function listedState(topic: Topic, state: string, record: Expiring = {}): Styled {
  return inStyle(styleOf(topic, state, record), expiredWords(record) ?? state)
}

/** Returns the coloured `explain` of a state. */
export function shownState(topic: Topic, state: string, record: Expiring = {}): Styled {
  return inStyle(styleOf(topic, state, record), explain(topic, state, record))
}

/**
 * Returns the next command for a record: the one that makes a new invitation, offer or request if it has
 * expired. Undefined if this side has nothing to do.
 */
export function nextCommand(
  topic: Topic,
  state: string,
  id: string,
  record: Expiring = {},
): string | undefined {
  const { next, renew } = meanings[topic][state] ?? {}
  return isExpired(record) ? renew : next?.replace('{id}', id)
}

/** Returns the command that makes a record anew, if it has expired. */
export function renewal(topic: Topic, state: string, record: Expiring, now = Date.now()): string | undefined {
  return isExpired(record, now) ? meanings[topic][state]?.renew : undefined
}

export type Waited = { topic: Topic; id: string; state: string; invitationUrl?: string | undefined }

/** Returns the line that a terminal shows while a command waits. */
export function waitingLine(waited: Waited, wanted: string, timeout: string): string {
  const { topic, state } = waited
  const words = meanings[topic][state]?.words ?? state
  const end = meanings[topic][wanted]?.words ?? wanted
  const what = words.startsWith('waiting ')
    ? words.slice('waiting '.length)
    : `until it is ${end.startsWith('waiting ') ? `in ${wanted}` : end}`
  return `Waiting ${what}, ${timeout} at most. Ctrl-C stops waiting: ${afterwards(waited)}`
}

/** Returns the sentence after a timeout. */
export function timeoutText(waited: Waited, wanted: string, seconds: number): string {
  const { topic, id, state } = waited
  return `The ${topic} ${id} is in ${explain(topic, state)} after ${seconds} s, and not yet in ${wanted}; ${afterwards(waited)}`
}

/** Describes what continues after the command stops waiting. */
function afterwards({ topic, id, state, invitationUrl }: Waited): string {
  if (state === 'InvitationGenerated') {
    const end = expiryOf(invitationUrl)
    return `the invitation stays valid${end === undefined ? '' : ` until ${end}`}.`
  }
  const next = nextCommand(topic, state, id)
  if (next !== undefined) return `it waits for you: ${next}`
  return meanings[topic][state]?.words.startsWith('waiting ')
    ? 'it continues when the other side answers.'
    : 'the daemon continues.'
}

/** Returns the expiry time in an invitation. Undefined if it has none. */
function expiryOf(url = ''): string | undefined {
  try {
    const oob = new URL(url).searchParams.get('_oob') ?? ''
    const { expires_time: seconds } = JSON.parse(Buffer.from(oob, 'base64url').toString()) as {
      expires_time?: unknown
    }
    return typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString() : undefined
  } catch {
    return undefined
  }
}
