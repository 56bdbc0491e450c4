/** Describes the parts of a trace: message names, short DIDs, durations, states and pending work. */
import type { Answer } from '../client/api.ts'
import { safeLine, shortId } from '../format/text.ts'
import { explain } from '../format/states.ts'

export type Trace = Answer<'GET /traces/{id}'>
export type Step = Trace['steps'][number]
export type Pending = Trace['pending'][number]
export type MessageStep = Extract<Step, { kind: 'message' }>
export type StateStep = Extract<Step, { kind: 'state' }>
export type DeliveryStep = Extract<Step, { kind: 'delivery' }>

/** Returns a stable key of a step. */
export function keyOf(step: Step): string {
  if (step.kind === 'state') return step.eventId
  return step.kind === 'message'
    ? `${step.direction} ${step.id} ${step.at}`
    : `${step.webhookId} ${step.eventId} ${step.attempt}`
}

/**
 * Returns the short name of a message type: `offer-credential`, `connections request`. A peer may have chosen
 * the type.
 */
export function nameOf(type: string): string {
  const [protocol, , name] = type.split('/').slice(-3)
  if (protocol === undefined || !name) return safeLine(type)
  return safeLine(name.includes('-') ? name : `${protocol} ${name}`)
}

/** Returns the method and six characters of a DID. For a did:peer they are the start of its first key. */
export function shortDid(did: string): string {
  const [, method, rest] = /^did:([a-z0-9]+):(.+)$/.exec(did) ?? []
  return method === undefined
    ? safeLine(did).slice(0, 12)
    : `${method}:${safeLine(rest!)
        .replace(/^2\.Ez6LS|^4zQm/, '')
        .slice(0, 6)}`
}

/** Formats a duration with at most two units: `0 ms`, `2.3 s`, `3 min 20 s`, `2 d 4 h`. */
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

/** Describes pending work in one line. `now` is in milliseconds. */
export function pendingWords(pending: Pending, now: number): string {
  return safeLine(sentence(pending, now))
}

function sentence(pending: Pending, now: number): string {
  const { what, since, topic, state, name = '', events = 0 } = pending
  const about = topic === undefined || state === undefined ? '' : `: ${topic} ${explain(topic, state)}`
  const waited = length(now - Date.parse(since))
  switch (what) {
    case 'message':
      return `${nameOf(name)} is undelivered for ${waited}; ${attempt(pending, now)}`
    case 'work':
      return `the agent is processing ${name} for ${waited}; ${attempt(pending, now)}`
    case 'answer':
      return `the other side has not answered for ${waited}${about}`
    case 'decision':
      return `waiting for you for ${waited}${about}`
    case 'end':
      return `no more attempts for ${waited}${about}${until(pending, 'it expires', now)}`
    case 'webhook':
      return `webhook ${shortId(name)} has ${events} undelivered event${events === 1 ? '' : 's'} for ${waited}; ${attempt(pending, now)}`
  }
}

function attempt({ attempts = 0, reason, nextAt }: Pending, now: number): string {
  if (attempts === 0) return 'the first attempt is running'
  const next =
    nextAt === undefined ? 'the next is running' : `the next in ${length(Date.parse(nextAt) - now)}`
  return `${attempts} attempt${attempts === 1 ? '' : 's'}, ${next}${reason === undefined ? '' : `: ${reason}`}`
}

function until({ nextAt }: Pending, words: string, now: number): string {
  return nextAt === undefined ? '' : `; ${words} in ${length(Date.parse(nextAt) - now)}`
}
