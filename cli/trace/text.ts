/** Prints a trace as text: one line for each step, and the pending work. */
import { safeLine, shorten, shortId } from '../format/text.ts'
import { inStyle, plain, type Paint, type Styled } from '../format/colour.ts'
import { explain, meanings, styleOf, type Topic } from '../format/states.ts'
import { table, type Column } from '../format/table.ts'
import {
  length,
  nameOf,
  pendingWords,
  shortDid,
  type DeliveryStep,
  type MessageStep,
  type Step,
  type Trace,
} from './words.ts'

/** Columns of the times. */
const timeWidth = 9

/**
 * A step with its times in milliseconds since the first and the previous step. `deliveredState` is the state
 * of a delivered event.
 */
export type Line = {
  step: Step
  sinceStart: number
  sincePrevious: number | undefined
  deliveredState?: string | undefined
}

/** Returns the steps with their times. Negative times, from a clock that was set back, become 0. */
export function toLines({ steps, startedAt }: Trace): Line[] {
  const states = new Map(
    steps.flatMap((step) => (step.kind === 'state' ? [[step.eventId, step.to] as const] : [])),
  )
  const since = (at: string, earlier: string) => Math.max(0, Date.parse(at) - Date.parse(earlier))
  return steps.map((step, index) => ({
    step,
    sinceStart: since(step.at, startedAt ?? step.at),
    sincePrevious: index === 0 ? undefined : since(step.at, steps[index - 1]!.at),
    ...(step.kind === 'delivery' && { deliveredState: states.get(step.eventId) }),
  }))
}

/** From this width on steps are not cut. */
const roomy = 72

function columnsFor(width: number | undefined): Column<Line>[] {
  const times: Column<Line>[] = [
    { head: 'at'.padStart(timeWidth), of: ({ sinceStart }) => length(sinceStart).padStart(timeWidth) },
    {
      head: 'after'.padStart(timeWidth),
      of: ({ sincePrevious }) =>
        (sincePrevious === undefined ? '' : length(sincePrevious)).padStart(timeWidth),
    },
  ]
  const isNarrow = width !== undefined && width < roomy
  return [
    ...times,
    { head: 'step', of: ({ step }) => stepCell(step), ...(isNarrow && { cut: 'end' as const }) },
    { head: 'result', of: ({ step, deliveredState }) => resultOf(step, deliveredState), cut: 'end' },
  ]
}

/** Prints lines under a heading, as `table` does. */
export function linesTable(lines: readonly Line[], width?: number, paint: Paint = plain): string {
  return table(lines, columnsFor(width), width, paint)
}

/** Prints a whole trace. The last failure of a record is not cut. */
export function traceText(
  trace: Trace,
  { now, width, paint = plain }: { now: number; width?: number | undefined; paint?: Paint },
): string {
  const { thid, records, steps, isCut } = trace
  const cut = (line: string) => (width === undefined ? line : shorten(line, width))
  const head = [
    paint('strong', cut(`Thread ${safeLine(thid)}`)),
    ...records.flatMap(({ topic, role, id, state, failure, ...record }) => [
      cut(safeLine(`${topic} ${id}, ${role}: ${explain(topic, state, record, now)}`)),
      ...(failure === undefined ? [] : [paint('bad', `  last failure: ${safeLine(failure)}`)]),
    ]),
    cut(times(trace)),
  ]
  const lines = steps.length === 0 ? [] : ['', linesTable(toLines(trace), width, paint)]
  const more = isCut ? ['', 'The trace is cut off here: `agent event list --thid` lists all events.'] : []
  return [...head, ...lines, ...more, ...pendingLines(trace, now, paint, width)].join('\n')
}

/** Returns the pending work of a thread, one line each, under a heading. Reasons are not cut. */
export function pendingLines(
  { pending }: Trace,
  now: number,
  paint: Paint = plain,
  width?: number,
): string[] {
  if (pending.length === 0) return []
  const isNarrow = width !== undefined
  return [
    '',
    paint('strong', isNarrow ? shorten('Waiting', width) : 'Waiting'),
    ...pending.map((each) => `  ${paint('waiting', pendingWords(each, now))}`),
  ]
}

function times({ startedAt, steps }: Trace): string {
  if (startedAt === undefined)
    return 'No steps are stored any more: events and messages are kept for EVENT_RETENTION.'
  const tookMs = Date.parse(steps.at(-1)!.at) - Date.parse(startedAt)
  return `began ${startedAt}, ${steps.length} step${steps.length === 1 ? '' : 's'} in ${length(tookMs)}`
}

function stepCell(step: Step): Styled | string {
  const words = stepWords(step)
  if (step.kind !== 'state') return inStyle(hasFailed(step) ? 'bad' : 'faint', words)
  const { topic, to } = step
  if (to === undefined || meanings[topic as Topic]?.[to]?.ends === undefined) return words
  return inStyle(styleOf(topic as Topic, to), words)
}

function hasFailed(step: MessageStep | DeliveryStep): boolean {
  return step.kind === 'message' ? step.outcome !== 'taken' : step.outcome !== 'delivered'
}

export function stepWords(step: Step): string {
  switch (step.kind) {
    case 'state':
      return step.to === undefined ? `${step.eventType}, a test` : `${step.topic} ${step.to}`
    case 'message':
      return step.direction === 'sent' ? `→ sent ${nameOf(step.type)}` : `← received ${nameOf(step.type)}`
    case 'delivery':
      return `⇢ webhook ${shortId(step.webhookId)}`
  }
}

/**
 * Describes the result of a step: the previous state, or the outcome of a message or of the delivery of
 * `deliveredState`.
 */
export function resultOf(step: Step, deliveredState?: string): string {
  switch (step.kind) {
    case 'state':
      return step.from === undefined
        ? ''
        : step.from === step.to
          ? 'unchanged: another field has changed'
          : `was ${step.from}`
    case 'message':
      return safeLine(messageResult(step))
    case 'delivery':
      return safeLine(`${deliveredState ?? step.eventType}: ${deliveryResult(step)}`)
  }
}

function messageResult({
  direction,
  outcome,
  from,
  to,
  attempts = 1,
  durationMs,
  failure,
}: MessageStep): string {
  const took = durationMs === undefined ? '' : ` in ${length(durationMs)}`
  const why = failure === undefined ? undefined : outcome === 'taken' ? `before: ${failure}` : failure
  return list([
    // A received message was accepted by default.
    direction === 'received' && outcome === 'taken' ? undefined : `${outcome}${took}`,
    attempts > 1 ? `attempt ${attempts}` : undefined,
    // A wallet of OpenID4VCI has no DID.
    from === 'wallet' ? undefined : `${shortDid(from)} → ${shortDid(to)}`,
    why,
  ])
}

function deliveryResult({ outcome, attempt, cause, durationMs, status, error }: DeliveryStep): string {
  const answer = `${outcome === 'dead' ? 'abandoned' : outcome}${status === undefined ? '' : ` (${status})`}`
  return list([
    `${answer} in ${length(durationMs)}`,
    attempt > 1 ? `attempt ${attempt}` : undefined,
    cause === 'replay' ? 'a replay' : undefined,
    status === undefined ? error : undefined,
  ])
}

function list(parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(', ')
}
