/** States of records in words, the next command, and the texts of `--wait`. */
import { definitions, type RecordTopic } from '../../src/protocols/definitions.ts'
import type { State } from '../../src/protocols/engine/machine.ts'
import { inStyle, type Style, type Styled } from './colour.ts'

export type Topic = RecordTopic

export type Definition = (typeof definitions)[number]

/** By topic, then by state. */
export const meanings = Object.fromEntries(
  definitions.map(({ topic, states }) => [topic, states]),
) as Readonly<Record<Topic, Readonly<Record<string, State>>>>

/** The definition of a topic's protocol. */
export function definitionOf(topic: Topic): Definition {
  return definitions.find((each) => each.topic === topic)!
}

/** A state with its meaning, such as `OfferSent (waiting for the holder to accept the offer)`. */
export function explain(topic: Topic, state: string): string {
  const meaning = meanings[topic][state]
  return meaning ? `${state} (${meaning.words})` : state
}

/** Whether a state is a good end, a bad one, or none yet. */
export function styleOf(topic: Topic, state: string): Style {
  const ends = meanings[topic][state]?.ends
  return ends === undefined ? 'waiting' : ends === 0 ? 'good' : 'bad'
}

/** A state alone, in its colour, for a table; `words` says more than its name. */
export function shortState(topic: Topic, state: string, words = state): Styled {
  return inStyle(styleOf(topic, state), words)
}

/** A state with its meaning, as `explain` says it, in its colour. */
export function shownState(topic: Topic, state: string): Styled {
  return shortState(topic, state, explain(topic, state))
}

/** The command that comes next for a record in a state, if it is this side's turn. */
export function nextCommand(topic: Topic, state: string, id: string): string | undefined {
  return meanings[topic][state]?.next?.replace('{id}', id)
}

export type Waited = { topic: Topic; id: string; state: string; invitationUrl?: string | undefined }

/** The line at a terminal while a command waits; nothing for a state that is waited for no longer. */
export function waitingLine(waited: Waited, wanted: string, timeout: string): string {
  const { topic, state } = waited
  const words = meanings[topic][state]?.words ?? state
  const what = words.startsWith('waiting ')
    ? words.slice('waiting '.length)
    : `until it is ${meanings[topic][wanted]?.words ?? wanted}`
  return `Waiting ${what}, ${timeout} at most. Ctrl-C stops waiting: ${afterwards(waited)}`
}

/** The sentence after a time-out. */
export function timeoutText(waited: Waited, wanted: string, seconds: number): string {
  const { topic, id, state } = waited
  return `The ${topic} ${id} is in ${explain(topic, state)} after ${seconds} s, and not yet in ${wanted}; ${afterwards(waited)}`
}

/** Says what continues when the command stops waiting: the invitation, the flow, or nothing before the next command. */
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

/** When an invitation ends, as it says itself; a plain one of a connection does not. */
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
