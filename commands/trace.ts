import * as Flags from '@oclif/core/flags'
import { interruption } from '../cli/client/events.ts'
import { type Context, defineCommand } from '../cli/define-command.ts'
import { compactJson } from '../cli/format/text.ts'
import { nextCommand, type Topic } from '../cli/format/states.ts'
import { argument } from '../cli/input/arguments.ts'
import { follow } from '../cli/trace/follow.ts'
import { toMermaid } from '../cli/trace/diagram.ts'
import { linesTable, pendingLines, toLines, traceText } from '../cli/trace/text.ts'
import { keyOf, type Trace } from '../cli/trace/words.ts'

export default defineCommand({
  summary: 'Trace a thread: its messages, states, deliveries and pending steps',
  description:
    'Shows this side of the thread only. Prints the types of messages, never their contents. Entries older than EVENT_RETENTION are deleted.',
  examples: [
    'agent trace <credential record>',
    'agent trace b0f3a291 --follow',
    'agent trace <thread> --mermaid > trace.mmd',
    'agent trace <thread> --json | jq .pending',
  ],
  args: {
    id: argument(
      'a thread, a DID, or the id of a connection, credential, proof, ping or event; the last six characters are enough',
    ),
  },
  flags: {
    mermaid: Flags.boolean({ description: 'print a Mermaid sequence diagram' }),
    follow: Flags.boolean({
      char: 'f',
      description: 'keep following, until Ctrl-C; with --json, one step per line',
      exclusive: ['mermaid'],
    }),
  },
  async run(context) {
    const { args, flags, call, isQuiet, log, width, paint, suggest } = context
    const trace = await call('GET /traces/{id}', { path: { id: args.id } })
    if (flags.follow) return followTrace(context, trace)
    const now = Date.now()
    if (isQuiet) log(trace.thid)
    else log(flags.mermaid ? toMermaid(trace, now) : traceText(trace, { now, width, paint }))
    if (!flags.mermaid) suggest(...decisions(trace))
    return trace
  },
})

async function followTrace(context: Context, { thid }: Trace): Promise<void> {
  const { isJson, say, openEvents, call, isQuiet } = context
  const { signal, interrupted } = interruption()
  const onChange = (isThere: boolean) =>
    say(isThere ? 'The daemon has restarted.' : 'The daemon has stopped; waiting for it to restart.')
  const events = await openEvents({ thid }, { signal, onChange })
  const seen = new Set<string>()
  let waiting = ''
  for await (const trace of follow(() => call('GET /traces/{id}', { path: { id: thid } }), events, signal)) {
    const fresh = toLines(trace).filter(({ step }) => !seen.has(keyOf(step)))
    const isFirst = seen.size === 0
    for (const { step } of fresh) seen.add(keyOf(step))
    if (isJson || isQuiet) for (const { step } of fresh) write(isQuiet ? keyOf(step) : compactJson(step))
    else if (fresh.length > 0) write(toTable(context, fresh, isFirst))
    // Print the pending steps again only when they have changed.
    const wanted = compactJson(
      trace.pending.map(({ what, name, recordId, state, reason }) => [what, name, recordId, state, reason]),
    )
    if (wanted !== waiting) say(pendingLines(trace, Date.now()).slice(1).join('\n') || 'Nothing is pending.')
    waiting = wanted
  }
  process.exitCode = interrupted()
}

function toTable(
  { width, paint }: Context,
  lines: Parameters<typeof linesTable>[0],
  withHeading: boolean,
): string {
  const text = linesTable(lines, width, paint)
  return withHeading ? text : text.split('\n').slice(1).join('\n')
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** The commands for pending decisions of this side. */
function decisions({ pending }: Trace): (string | undefined)[] {
  return pending.map(({ what, topic, state, recordId }) =>
    what === 'decision' && state !== undefined && recordId !== undefined
      ? nextCommand(topic as Topic, state, recordId)
      : undefined,
  )
}
