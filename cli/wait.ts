/** `--wait`: waits for a state of a record, on the event stream. */
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import { optionalValue } from './argv.ts'
import type { Answer } from './client/api.ts'
import type { Event } from './client/events.ts'
import type { Context } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { readNames } from './client/names.ts'
import { reasonOf } from './format/failures.ts'
import { connectionFields, credentialFields } from './format/records.ts'
import { presentationFields } from './format/proofs.ts'
import {
  definitionOf,
  explain,
  meanings,
  nextCommand,
  timeoutText,
  waitingLine,
  type Definition,
  type Topic,
  type Waited,
} from './format/states.ts'
import { safeLine } from './format/text.ts'
import { readOneOf } from './input/filters.ts'
import { readTimeout, timeoutFlag } from './input/time.ts'
import { drawInvitation, printInvitation } from './invitation.ts'
import type { Pair } from './output.ts'
import { chooseQr, type QrFlags } from './qr/flags.ts'

/** The records that a command can wait for, by topic. */
export type Records = { [D in Definition as D['topic']]: Answer<D['resource']['route']> }

/** The fields of a record that a command prints. */
const fieldsOf: { [T in Topic]: (record: Records[T]) => readonly Pair[] } = {
  connection: connectionFields,
  credential: credentialFields,
  proof: presentationFields,
}

export type WaitFlags = { wait?: string | undefined; timeout?: string | undefined }

/** `--wait` and `--timeout`; `usually` describes the state that a bare `--wait` waits for. */
export function waitFlags(usually: string) {
  return {
    wait: Flags.string({
      ...optionalValue('state'),
      description: `wait until ${usually}, or with --wait=<state> for that state`,
    }),
    timeout: timeoutFlag,
  }
}

/**
 * Creates or changes a record and prints it. With `--wait`, prints it once it has reached the state. With
 * `--json`, prints the record even if the wait fails.
 *
 * @throws {UsageError} for an unknown state or a timeout that is not a duration, before the record is
 * changed.
 * @throws {CommandError} 6 when the time is over; 5, or 8 when a verification failed, when the record has
 * ended in another state.
 */
export async function changeRecord<T extends Topic>(
  context: Context<object, WaitFlags>,
  topic: T,
  {
    until,
    change,
    print = (record) => printRecord(context, topic, record),
    next,
    drawCode,
  }: {
    /** The state that a bare `--wait` waits for. */
    until: string
    change: () => Promise<Records[T]>
    print?: (record: Records[T], changed: Records[T]) => void
    /** The command to suggest; none is suggested if the wait fails, because the error names one. */
    next?: (record: Records[T]) => string | undefined
    /** Draws the QR code: last, so that it stays on the screen, or before the wait. */
    drawCode?: (changed: Records[T]) => Promise<void>
  },
): Promise<Records[T]> {
  const isWaiting = context.flags.wait !== undefined
  const { changed, record, failure } = await waitForRecord(
    context,
    topic,
    until,
    change,
    isWaiting ? drawCode : undefined,
  )
  print(record, changed)
  if (!failure) {
    context.suggest(next?.(record))
    if (!isWaiting) await drawCode?.(changed)
    return record
  }
  if (context.isJson) context.logJson(record)
  throw failure
}

/**
 * Creates a record and prints it, or its invitation if it has one. With `--wait`, prints it once it has
 * reached the state.
 */
export function createRecord<T extends 'credential' | 'proof'>(
  context: Context<object, WaitFlags & QrFlags>,
  topic: T,
  until: string,
  create: () => Promise<Records[T]>,
): Promise<Records[T]> {
  const { flags, isQuiet } = context
  const { id: idField, state: stateField } = definitionOf(topic).resource
  const qr = chooseQr(flags)
  return changeRecord(context, topic, {
    until,
    change: async () => {
      const record = await create()
      printInvitation(context, textOf(record, idField), record, qr)
      return record
    },
    drawCode: (record) => drawInvitation(context, textOf(record, idField), record, qr),
    print: (record, { invitation }) => {
      if (!invitation || (flags.wait !== undefined && !isQuiet)) printRecord(context, topic, record)
    },
    next: (record) => {
      const id = textOf(record, idField)
      return nextCommand(topic, textOf(record, stateField), id) ?? `agent ${topic} show ${id}`
    },
  })
}

function printRecord<T extends Topic>({ print }: Context, topic: T, record: Records[T]): void {
  print(textOf(record, definitionOf(topic).resource.id), fieldsOf[topic](record))
}

/**
 * How long a refusal is waited for after a presentation was sent over DIDComm, where a verifier reports only
 * that it refuses.
 */
const refusalMs = 2_000

type WaitContext = Pick<Context<object, WaitFlags>, 'call' | 'flags' | 'openEvents' | 'sayAtTerminal'>

/**
 * Changes a record and, with `--wait`, waits until it reaches a state or ends. The event stream is opened
 * before the change, so that no event is missed. Returns the record as changed, as it is after the wait, and
 * the reason if it has not reached the state.
 */
export async function waitForRecord<T extends Topic>(
  { call, flags, openEvents, sayAtTerminal }: WaitContext,
  topic: T,
  until: string,
  change: () => Promise<Records[T]>,
  drawCode?: (changed: Records[T]) => Promise<void>,
): Promise<{ changed: Records[T]; record: Records[T]; failure?: CommandError }> {
  const { wait, timeout = '5m' } = flags
  if (wait === undefined) {
    const changed = await change()
    return { changed, record: changed }
  }
  const wanted = readOneOf('wait', topic, wait || until, Object.keys(meanings[topic]))
  const timeoutMs = readTimeout(flags)
  const definition = definitionOf(topic)
  const closing = new AbortController()
  const events = await openEvents({ type: definition.event }, { signal: closing.signal })
  let timer: NodeJS.Timeout | undefined
  try {
    const changed = await change()
    const id = textOf(changed, definition.resource.id)
    const first = textOf(changed, definition.resource.state)
    timer = setTimeout(() => closing.abort(), timeoutMs)
    if (first !== wanted && !isEnd(topic, first, wanted))
      sayAtTerminal(waitingLine(toWaited(topic, changed, id, first), wanted, timeout))
    await drawCode?.(changed)
    const mayBeRefused =
      wanted === 'PresentationSent' &&
      wait === '' &&
      !('openid4vpRequest' in changed && changed.openid4vpRequest)
    const isLast = (state: string) => {
      if (state !== wanted || !mayBeRefused) return state === wanted || isEnd(topic, state, wanted)
      clearTimeout(timer)
      timer = setTimeout(() => closing.abort(), refusalMs)
      return false
    }
    const { state, refusal } = await lastState(events, definition, id, first, isLast)
    const record = await readRecord<T>(call, definition, id).catch(() => changed)
    if (state === wanted) return { changed, record }
    if (refusal !== undefined) return { changed, record, failure: refusedFailure(topic, id, state, refusal) }
    const names = await readNames(call, 'state' in record ? [] : [record])
    const waited = toWaited(topic, record, id, state)
    return { changed, record, failure: toFailure(waited, wanted, timeoutMs / 1_000, reasonOf(record, names)) }
  } finally {
    clearTimeout(timer)
    closing.abort()
  }
}

function readRecord<T extends Topic>(
  call: Client,
  { resource }: Definition,
  id: string,
): Promise<Records[T]> {
  const get = call as (route: string, input: { path: Record<string, string> }) => Promise<unknown>
  return get(resource.route, { path: { [resource.id]: id } }) as Promise<Records[T]>
}

function textOf(record: object, field: string): string {
  return String((record as Record<string, unknown>)[field])
}

/**
 * The state that ends the wait; the last known state when the events end before. `refusal` is why this wallet
 * has refused a credential, which ends the wait too: the record stays in its state, for another credential.
 */
async function lastState(
  events: AsyncIterable<Event>,
  { event: type, resource }: Definition,
  id: string,
  first: string,
  isLast: (state: string) => boolean,
): Promise<{ state: string; refusal?: string }> {
  let state = first
  if (isLast(state)) return { state }
  for await (const event of events) {
    if (event.type !== type || event.data[resource.id] !== id) continue
    state = String(event.data[resource.state])
    if (isLast(state)) break
    const failure = event.data['metaLastFailure'] as Records[Topic]['metaLastFailure']
    if (failure?.type.endsWith('InvalidCredentialIssue'))
      return { state, refusal: safeLine(failure.detail ?? '') }
  }
  return { state }
}

/**
 * True for a final state. A record that is about to send a problem report has ended, unless the report is
 * waited for.
 */
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

function refusedFailure(topic: Topic, id: string, state: string, reason: string): CommandError {
  const text = `${reason}\n  The issuer was told. The ${topic} ${id} stays in ${state}, for another one.`
  return new CommandError(text, 8, `agent ${topic} show ${id}`)
}

function toFailure(waited: Waited, wanted: string, seconds: number, reason?: string): CommandError {
  const { topic, id, state } = waited
  const hint = `agent ${topic} show ${id}`
  if (!isEnd(topic, state, wanted)) return new CommandError(timeoutText(waited, wanted, seconds), 6, hint)
  const text = `The ${topic} ${id} is in ${explain(topic, state)} and cannot reach ${wanted}.`
  const whole = reason === undefined ? text : `${text}\n  Reason: ${reason}`
  return new CommandError(whole, meanings[topic][state]!.ends || 5, hint)
}
