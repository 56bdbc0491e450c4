/** The states of records in words, and the command that comes next. */
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
