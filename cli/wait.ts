/** Waiting for what becomes of a record: `--wait`, told by the stream of events, so that nobody polls. */
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import type { Event } from './client/events.ts'
import { CommandError } from './errors/errors.ts'
import { definitionOf, explain, meanings, type Definition, type Topic } from './format/states.ts'
import { timeoutText, waitingLine, type Waited } from './format/waiting.ts'
import { readSeconds } from './input/time.ts'
import { readOneOf } from './input/filters.ts'

export type { Topic }

/** The records that a command can wait for, by topic. */
export type Records = { [D in Definition as D['topic']]: Answer<D['resource']['route']> }

export type Waiting = { wait?: string | undefined; timeout?: string | undefined }

/** The flags of waiting; `usually` says for what when no state is named. */
export function waitFlags(usually: string) {
  return {
    wait: Flags.string({
      helpValue: '[state]',
      description: `wait until ${usually}, or with --wait=<state> for that state`,
    }),
    timeout: Flags.string({
      dependsOn: ['wait'],
      description: 'how long to wait: 30s, 10m, 2h; 5m when left out',
    }),
  }
}

/** The arguments with `--wait` alone as oclif takes it, which wants a value for every flag that may have one. */
export function spellOut(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((arg, index) => (arg === '--wait' && (end === -1 || index < end) ? '--wait=' : arg))
}

/** The arguments as a person types them: the opposite of `spellOut`. */
export function asTyped(argv: readonly string[]): string[] {
  return argv.map((arg) => (arg === '--wait=' ? '--wait' : arg))
}

/** What a wait has come to: the record as it is now, and why it is not what was waited for, if it is not. */
export type Outcome<T extends Topic> = { record: Records[T]; failure?: CommandError }
export type Wait<T extends Topic> = (made: Records[T]) => Promise<Outcome<T>>

/**
 * Gets ready to wait, before the call that makes or moves the record: what it returns is then given the record. It says 6 when the
 * time is over, and 5, or 8 when something did not verify, once the record has come to an end that is another. `say` is given a line for
 * people when there is something to wait for.
 *
 * @throws {UsageError} for a state that there is not, or a time that is none.
 */
export async function prepareWait<T extends Topic>(
  topic: T,
  { wait, timeout = '5m' }: Waiting,
  usual: string,
  call: Client,
  open: (type: Event['type'], signal: AbortSignal) => Promise<AsyncIterable<Event>>,
  say?: (line: string) => void,
): Promise<Wait<T>> {
  if (wait === undefined) return (record) => Promise.resolve({ record })
  const wanted = readOneOf('wait', topic, wait || usual, Object.keys(meanings[topic]))
  const seconds = readSeconds('timeout', timeout)
  const definition = definitionOf(topic)
  const { id: idName, state: stateName } = definition.resource
  const ending = new AbortController()
  const events = await open(definition.event, ending.signal)
  return async (made) => {
    const id = textOf(made, idName)
    const timer = setTimeout(() => ending.abort(), seconds * 1_000)
    const first = textOf(made, stateName)
    if (first !== wanted && !isEnd(topic, first, wanted))
      say?.(waitingLine(toWaited(topic, made, id, first), wanted, timeout))
    try {
      const isLast = (each: string) => each === wanted || isEnd(topic, each, wanted)
      const state = await lastState(events, definition, id, first, isLast)
      const record = await read<T>(call, definition, id).catch(() => made)
      return state === wanted
        ? { record }
        : { record, failure: toFailure(toWaited(topic, record, id, state), wanted, seconds) }
    } finally {
      clearTimeout(timer)
      ending.abort()
    }
  }
}

function read<T extends Topic>(call: Client, { resource }: Definition, id: string): Promise<Records[T]> {
  const get = call as (route: string, input: { path: Record<string, string> }) => Promise<unknown>
  return get(resource.route, { path: { [resource.id]: id } }) as Promise<Records[T]>
}

function textOf(record: object, member: string): string {
  return String((record as Record<string, unknown>)[member])
}

/** The state that ends the wait, or the last one there was. */
async function lastState(
  events: AsyncIterable<Event>,
  { event: type, resource }: Definition,
  id: string,
  first: string,
  isLast: (state: string) => boolean,
): Promise<string> {
  let state = first
  if (isLast(state)) return state
  for await (const event of events) {
    if (event.type !== type || event.data[resource.id] !== id) continue
    state = String(event.data[resource.state])
    if (isLast(state)) break
  }
  return state
}

/** A record that is about to report a problem is at its end for everything but the report. */
function isEnd(topic: Topic, state: string, wanted: string): boolean {
  return (
    meanings[topic][state]?.ends !== undefined &&
    !(state === 'ProblemReportPending' && wanted === 'ProblemReportSent')
  )
}

function toWaited(topic: Topic, record: Records[Topic], id: string, state: string): Waited {
  return {
    topic,
    id,
    state,
    invitationUrl: 'invitation' in record ? record.invitation?.invitationUrl : undefined,
  }
}

function toFailure(waited: Waited, wanted: string, seconds: number): CommandError {
  const { topic, id, state } = waited
  const hint = `agent ${topic} show ${id}`
  if (!isEnd(topic, state, wanted)) return new CommandError(timeoutText(waited, wanted, seconds), 6, hint)
  const text = `The ${topic} ${id} is in ${explain(topic, state)} and will not come to ${wanted}.`
  return new CommandError(text, meanings[topic][state]!.ends || 5, hint)
}
