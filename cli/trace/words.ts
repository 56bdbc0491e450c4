/** The parts of a trace in words: messages by their names, DIDs by what tells them apart, lengths of time. */
import type { Answer } from '../client/api.ts'
import { safeLine, shortId } from '../format/text.ts'
import { explain, meanings } from '../format/states.ts'

export type Trace = Answer<'GET /traces/{id}'>
export type Step = Trace['steps'][number]
export type Pending = Trace['pending'][number]
export type MessageStep = Extract<Step, { kind: 'message' }>
export type StateStep = Extract<Step, { kind: 'state' }>
export type DeliveryStep = Extract<Step, { kind: 'delivery' }>

/** What identifies a step, and stays when there are more. */
export function keyOf(step: Step): string {
  if (step.kind === 'state') return step.eventId
  return step.kind === 'message'
    ? `${step.direction} ${step.id} ${step.at}`
    : `${step.webhookId} ${step.eventId} ${step.attempt}`
}

/** A message's name without its protocol where that says it all: `offer-credential`, `connections request`. A peer may have chosen it. */
export function nameOf(type: string): string {
  const [protocol, , name] = type.split('/').slice(-3)
  if (protocol === undefined || !name) return safeLine(type)
  return safeLine(name.includes('-') ? name : `${protocol} ${name}`)
}

/** A DID's method and six characters that tell it from others: of a did:peer those at the beginning of its first key. */
export function shortDid(did: string): string {
  const [, method, rest] = /^did:([a-z0-9]+):(.+)$/.exec(did) ?? []
  return method === undefined
    ? safeLine(did).slice(0, 12)
    : `${method}:${safeLine(rest!)
        .replace(/^2\.Ez6LS|^4zQm/, '')
        .slice(0, 6)}`
}

/** A length of time to the two units that matter: `0 ms`, `2.3 s`, `3 min 20 s`, `2 d 4 h`. */
export function length(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const units = [86_400, 3_600, 60, 1].map((size, index) => ({ size, name: ['d', 'h', 'min', 's'][index]! }))
  const seconds = Math.round(ms / 1_000)
  const first = units.findIndex(({ size }) => seconds >= size)
  return units
    .slice(first, first + 2)
    .map(({ size, name }, index) => ({
      name,
      count: Math.floor((index === 0 ? seconds : seconds % units[first]!.size) / size),
    }))
    .filter(({ count }) => count > 0)
    .map(({ count, name }) => `${count} ${name}`)
    .join(' ')
}

/** A state with its meaning, where it has one. */
export function stateWords(topic: string | undefined, state: string): string {
  return topic !== undefined && topic in meanings ? explain(topic as keyof typeof meanings, state) : state
}

/** What a part of the thread waits for, in one line; `now` is in milliseconds. */
export function pendingWords(pending: Pending, now: number): string {
  return safeLine(sentence(pending, now))
}

function sentence(pending: Pending, now: number): string {
  const { what, since, topic, state, name = '', events = 0 } = pending
  const about = topic === undefined || state === undefined ? '' : `: ${topic} ${stateWords(topic, state)}`
  const waited = length(now - Date.parse(since))
  switch (what) {
    case 'message':
      return `${nameOf(name)} has not been taken for ${waited}; ${attempt(pending, now)}`
    case 'work':
      return `the agent is at it (${name}) for ${waited}; ${attempt(pending, now)}`
    case 'answer':
      return `the other side has not answered for ${waited}${about}`
    case 'decision':
      return `waiting for you for ${waited}${about}`
    case 'end':
      return `nothing more is tried for ${waited}${about}${until(pending, 'it ends by itself', now)}`
    case 'webhook':
      return `webhook ${shortId(name)} is to be told of ${events} event${events === 1 ? '' : 's'} for ${waited}; ${attempt(pending, now)}`
  }
}

/** What comes next of what is tried. */
function attempt({ attempts = 0, reason, nextAt }: Pending, now: number): string {
  if (attempts === 0) return 'it is being tried'
  const next =
    nextAt === undefined ? 'the next is under way' : `the next in ${length(Date.parse(nextAt) - now)}`
  return `${attempts} attempt${attempts === 1 ? '' : 's'}, ${next}${reason === undefined ? '' : `: ${reason}`}`
}

function until({ nextAt }: Pending, words: string, now: number): string {
  return nextAt === undefined ? '' : `; ${words} in ${length(Date.parse(nextAt) - now)}`
}
