/** What can be done with an event. */
import type { Event } from '../data/data.ts'
import type { Action } from './action.ts'
import { copying } from './copying.ts'

export function eventActions({ id }: Event): Action[] {
  return copying('id', id)
}
