/** The pane of events. */
import { eventSubjects, type Topic } from '../../../src/definitions/event-subjects.ts'
import { recordTopicOf, stateOf, subjectOf } from '../../format/event.ts'
import { inStyle, type Style } from '../../format/colour.ts'
import { styleOf } from '../../format/states.ts'
import { ago } from '../../format/time.ts'
import type { Data, Event } from '../data/data.ts'
import { connections } from './connections.ts'
import { credentials } from './credentials.ts'
import { dids } from './dids.ts'
import { proofs } from './proofs.ts'
import { threadOf, timeline, timeOf, type Line, type Pane } from './pane.ts'

export const events: Pane<Event> = {
  name: 'events',
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
    {
      head: 'when',
      width: 10,
      isSteady: true,
      of: ({ ts }, _, now) => ({ text: ago(ts, now), style: 'faint' }),
      from: 90,
    },
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
  record: recordOf,
  actions: [],
  empty: 'There are no events yet. They appear here as they happen.',
}

const recordPanes: Readonly<Partial<Record<Topic, Pane<any>>>> = {
  connection: connections,
  credential: credentials,
  proof: proofs,
  did: dids,
}

/** Returns the present record of an event, and its pane. */
function recordOf({ type, data: about }: Event, data: Data): ReturnType<NonNullable<Pane<Event>['record']>> {
  const { topic, id } = eventSubjects[type]
  const pane = recordPanes[topic]
  const item = pane?.items(data).find((each) => pane.id(each) === about[id])
  return pane && item !== undefined ? { pane, item } : undefined
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
