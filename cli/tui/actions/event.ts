/** What can be done with an event. */
import type { Event } from '../data/data.ts'
import type { Action } from './action.ts'
import { threadOf } from '../panes/timeline.ts'
import { copying } from './copying.ts'
import { tracing } from './tracing.ts'

export function eventActions(event: Event): Action[] {
  return [...tracing(threadOf(event)), ...copying('id', event.id)]
}
