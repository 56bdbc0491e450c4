/** A trace as a person reads it: a line for each step, and what it waits for. */
import { safeLine, shorten, shortId } from '../format/text.ts'
import { inStyle, plain, type Paint, type Styled } from '../format/colour.ts'
import { meanings, styleOf, type Topic } from '../format/states.ts'
import { table, type Column } from '../format/table.ts'
import {
  length,
  nameOf,
  pendingWords,
  shortDid,
  stateWords,
  type DeliveryStep,
  type MessageStep,
  type Step,
  type Trace,
} from './words.ts'

/** Columns of the times: most lengths of time fit. */
const timeWidth = 9

/** A step with when it was, in milliseconds since the first and since the one before it; and the state that its event came to. */
export type Line = {
  step: Step
  sinceStart: number
  sincePrevious: number | undefined
  told?: string | undefined
}

/** The steps with their times. A clock that was set back between two of them counts for nothing. */
export function toLines({ steps, startedAt }: Trace): Line[] {
  const states = new Map(
    steps.flatMap((step) => (step.kind === 'state' ? [[step.eventId, step.to] as const] : [])),
  )
  const since = (at: string, earlier: string) => Math.max(0, Date.parse(at) - Date.parse(earlier))
  return steps.map((step, index) => ({
    step,
    sinceStart: since(step.at, startedAt ?? step.at),
    sincePrevious: index === 0 ? undefined : since(step.at, steps[index - 1]!.at),
    ...(step.kind === 'delivery' && { told: states.get(step.eventId) }),
  }))
}

/** From this width on there is room for every step as a whole. */
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
    { head: 'what became of it', of: ({ step, told }) => resultOf(step, told), cut: 'end' },
  ]
}

/** Lines under a heading; `width` as a table has it. */
export function linesTable(lines: readonly Line[], width?: number, paint: Paint = plain): string {
  return table(lines, columnsFor(width), width, paint)
}

/** The whole trace. */
export function traceText(
  trace: Trace,
  { now, width, paint = plain }: { now: number; width?: number | undefined; paint?: Paint },
): string {
  const { thid, records, steps, isCut } = trace
  const cut = (line: string) => (width === undefined ? line : shorten(line, width))
  const head = [
    paint('strong', cut(`Thread ${safeLine(thid)}`)),
    ...records.map(({ topic, role, id, state }) =>
      cut(safeLine(`${topic} ${id}, ${role}: ${stateWords(topic, state)}`)),
    ),
    cut(times(trace)),
  ]
  const lines = steps.length === 0 ? [] : ['', linesTable(toLines(trace), width, paint)]
  const more = isCut ? ['', 'There are more steps than these: `agent event list --thid` has all events.'] : []
  return [...head, ...lines, ...more, ...pendingLines(trace, now, paint, width)].join('\n')
}

/** What the thread waits for, a line each, under a word; nothing when it is over. A reason is not cut: it wraps. */
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
    return 'What happened is not known any more: events and messages are kept for EVENT_RETENTION.'
  const tookMs = Date.parse(steps.at(-1)!.at) - Date.parse(startedAt)
  return `began ${startedAt}, ${steps.length} step${steps.length === 1 ? '' : 's'} in ${length(tookMs)}`
}

function stepCell(step: Step): Styled | string {
  const words = stepWords(step)
  if (step.kind !== 'state') return inStyle(hasFailed(step) ? 'bad' : 'faint', words)
  const { topic, to } = step
  const style = to !== undefined && topic in meanings ? styleOf(topic as Topic, to) : 'waiting'
  // Most states are on the way to another one.
  return style === 'waiting' ? words : inStyle(style, words)
}

function hasFailed(step: MessageStep | DeliveryStep): boolean {
  return step.kind === 'message' ? step.outcome !== 'taken' : step.outcome !== 'delivered'
}

/** What happened. */
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

/** What became of it: of a state, which it followed; of a delivery, of which event, by the state that it `told`. */
export function resultOf(step: Step, told?: string): string {
  switch (step.kind) {
    case 'state':
      return step.from === undefined
        ? ''
        : step.from === step.to
          ? 'as before: something else has changed'
          : `was ${step.from}`
    case 'message':
      return safeLine(messageResult(step))
    case 'delivery':
      return safeLine(`${told ?? step.eventType}: ${deliveryResult(step)}`)
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
    // What was received was taken, unless it says otherwise.
    direction === 'received' && outcome === 'taken' ? undefined : `${outcome}${took}`,
    attempts > 1 ? `attempt ${attempts}` : undefined,
    `${shortDid(from)} → ${shortDid(to)}`,
    why,
  ])
}

function deliveryResult({ outcome, attempt, cause, durationMs, status, error }: DeliveryStep): string {
  const answer = `${outcome === 'dead' ? 'given up' : outcome}${status === undefined ? '' : ` (${status})`}`
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
