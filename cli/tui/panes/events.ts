/** The pane of events. */
import { recordTopicOf, stateOf, subjectOf } from '../../format/event.ts'
import { inStyle, type Style } from '../../format/colour.ts'
import { styleOf } from '../../format/states.ts'
import { ago } from '../../format/time.ts'
import type { Event } from '../data/data.ts'
import { threadOf, timeline, timeOf, type Line, type Pane } from './pane.ts'

export const events: Pane<Event> = {
  title: 'Events',
  items: (data) => data.events,
  id: ({ id }) => id,
  columns: [
    { head: 'time', width: 8, of: ({ ts }) => timeOf(ts) },
    { head: 'type', width: 28, of: ({ type }) => type },
    { head: 'about', width: 8, of: (event) => subjectOf(event), from: 70 },
    {
      head: 'state',
      width: 'rest',
      of: (event) => ({ text: stateOf(event) ?? '', style: styleOfEvent(event) }),
    },
    { head: 'when', width: 10, of: ({ ts }, _, now) => ({ text: ago(ts, now), style: 'faint' }), from: 90 },
  ],
  text: ({ id, type, data }) => `${id} ${type} ${JSON.stringify(data)}`,
  sections: (event, look) => [
    {
      lines: [
        ['event', event.id],
        ['type', event.type],
        ['time', event.ts],
        ['state', shownStateOf(event)],
        ['thread', threadOf(event)],
      ],
    },
    ...timeline(threadOf(event), look),
    { head: 'data', lines: dataLines(event.data) },
  ],
  thread: threadOf,
  actions: [],
  empty: 'There are no events yet. They appear here as they happen.',
}

function styleOfEvent(event: Event): Style | undefined {
  const [topic, state] = [recordTopicOf(event), stateOf(event)]
  return topic && state ? styleOf(topic, state) : undefined
}

function shownStateOf(event: Event): unknown {
  const [style, state] = [styleOfEvent(event), stateOf(event)]
  return style && state ? inStyle(style, state) : state
}

function dataLines(data: Event['data']): Line[] {
  return Object.entries(data).map(([name, value]) => [name, value])
}
