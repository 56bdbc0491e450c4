/** Prints a trace as a Mermaid sequence diagram (mermaid.js.org/syntax/sequenceDiagram.html). */
import { safeLine, shortId } from '../format/text.ts'
import { resultOf, stepWords, toLines, type Line } from './text.ts'
import { length, nameOf, pendingWords, type StateStep, type Trace } from './words.ts'

/**
 * Writes a diagram between us, the other side and the webhooks. Texts may be a peer's: whatever Mermaid could take for its own grammar, for
 * HTML or for Markdown is written as a character code.
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

function toArrow({ step, told, sinceStart }: Line, hookOf: ReadonlyMap<string, string>): string {
  const at = `+${length(sinceStart)}`
  if (step.kind === 'state') return `Note over us: ${text(`${at} ${stateWords(step)}`)}`
  if (step.kind === 'delivery') {
    const arrow = step.outcome === 'delivered' ? '-->>' : '--x'
    return `us${arrow}${hookOf.get(step.webhookId)!}: ${text(`${at} ${resultOf(step, told)}`)}`
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
 * Everything but what Mermaid has no use of its own for, in a text that begins with a letter or a plus; a colon is that only before a space.
 * Arrows, the ellipsis and the apostrophe are codes, since the bundle is read as if it had ASCII only.
 */
const special = /[^\p{L}\p{N} .,:()/+\u2192\u2190\u21e2\u2026\u2019'-]|:(?! )/gu

function text(value: string): string {
  return safeLine(value).replaceAll(special, (char) => `#${char.codePointAt(0)!};`)
}
