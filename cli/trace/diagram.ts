/** Prints a trace as a Mermaid sequence diagram (mermaid.js.org/syntax/sequenceDiagram.html). */
import { safeLine, shortId } from '../format/text.ts'
import { resultOf, stepWords, toLines, type Line } from './text.ts'
import { length, nameOf, pendingWords, type StateStep, type Trace } from './words.ts'

/**
 * Returns a diagram of this side, the other side and the webhooks. Peers choose some texts, so characters
 * with a meaning in Mermaid, HTML or Markdown become character codes.
 */
export function toMermaid(trace: Trace, now: number): string {
  const lines = toLines(trace)
  const webhooks = [
    ...new Set([
      ...lines.flatMap(webhookOf),
      ...trace.pending.flatMap(({ what, name }) => (what === 'webhook' ? (name ?? []) : [])),
    ]),
  ]
  const hookOf = new Map(webhooks.map((id, index) => [id, `hook${index + 1}`]))
  const last = webhooks.at(-1)
  const everybody = `us,${last === undefined ? 'them' : hookOf.get(last)!}`
  return [
    'sequenceDiagram',
    '  participant them as the other side',
    '  participant us',
    ...webhooks.map((id) => `  participant ${hookOf.get(id)!} as ${text(`webhook ${shortId(id)}`)}`),
    ...lines.map((line) => `  ${toArrow(line, hookOf)}`),
    ...trace.pending.map(
      (pending) =>
        `  Note over ${pending.what === 'webhook' ? everybody : 'them,us'}: ${text(`waiting: ${pendingWords(pending, now)}`)}`,
    ),
  ].join('\n')
}

function webhookOf({ step }: Line): string[] {
  return step.kind === 'delivery' ? [step.webhookId] : []
}

function toArrow({ step, deliveredState, sinceStart }: Line, hookOf: ReadonlyMap<string, string>): string {
  const at = `+${length(sinceStart)}`
  if (step.kind === 'state') return `Note over us: ${text(`${at} ${stateWords(step)}`)}`
  if (step.kind === 'delivery') {
    const arrow = step.outcome === 'delivered' ? '-->>' : '--x'
    return `us${arrow}${hookOf.get(step.webhookId)!}: ${text(`${at} ${resultOf(step, deliveredState)}`)}`
  }
  const [from, to] = step.direction === 'sent' ? ['us', 'them'] : ['them', 'us']
  const result = resultOf(step)
  return `${from}${step.outcome === 'taken' ? '->>' : '-x'}${to}: ${text(`${at} ${nameOf(step.type)}: ${result}`)}`
}

function stateWords(step: StateStep): string {
  const { topic, from, to } = step
  return from === undefined || from === to ? stepWords(step) : `${topic} ${from} → ${to}`
}

/**
 * Characters with a meaning in Mermaid, in a text that starts with a letter or a plus. A colon has one only
 * without a space after it.
 */
const special = /[^\p{L}\p{N} .,:()/+\u2192\u2190\u21e2\u2026\u2019'-]|:(?! )/gu

function text(value: string): string {
  return safeLine(value).replaceAll(special, (char) => `#${char.codePointAt(0)!};`)
}
