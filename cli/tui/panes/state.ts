/** States of records, coloured by what they mean. */
import { meanings, styleOf, type Topic } from '../../format/states.ts'
import { ago } from '../../format/time.ts'
import { changedAt, type Data } from '../data/data.ts'
import type { Piece } from './pane.ts'

/** True when the record waits for this side to act. */
export function isMine(topic: Topic, state: string): boolean {
  const { next, ends } = meanings[topic][state] ?? {}
  return next !== undefined && ends === undefined
}

/** A state in its colour, which is another one when it is this side's turn. */
export function stateCell(topic: Topic, state: string): Piece {
  return { text: state, style: isMine(topic, state) ? 'chosen' : styleOf(topic, state) }
}

/** How long ago a record changed: its own word, or that of its events. */
export function age(
  id: string,
  record: { createdAt?: string; updatedAt?: string | undefined },
  data: Data,
  now: number,
): Piece {
  const at = [record.updatedAt ?? record.createdAt, changedAt(id, data)]
    .filter((each) => each !== undefined)
    .toSorted()
    .at(-1)
  return { text: at === undefined ? '' : ago(at, now), style: 'faint' }
}
