/** `agent trace` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../cli/base-command.ts'
import { interruption } from '../cli/client/events.ts'
import { compactJson } from '../cli/format/safe.ts'
import { nextCommand, type Topic } from '../cli/format/states.ts'
import { follow } from '../cli/trace/follow.ts'
import { toMermaid } from '../cli/trace/mermaid.ts'
import { linesTable, pendingLines, toLines, traceText } from '../cli/trace/text.ts'
import { keyOf, type Trace } from '../cli/trace/words.ts'

export default class TraceThread extends AgentCommand {
  static override summary =
    'Trace a thread: its messages, states and deliveries, step by step, and what it waits for'
  static override description =
    'Of this side: the other side has a trace of its own. Messages are named, never shown. What is past EVENT_RETENTION is gone.'
  static override examples = [
    '<%= config.bin %> trace <credential record>',
    '<%= config.bin %> trace b0f3a291 --follow',
    '<%= config.bin %> trace <thread> --mermaid > trace.mmd',
    '<%= config.bin %> trace <thread> --json | jq .pending',
  ]
  static override args = {
    id: Args.string({
      required: true,
      ignoreStdin: true,
      description:
        'a thread or a DID; a connection, credential, proof, ping or event by its id; or the end of one (six characters)',
    }),
  }
  static override flags = {
    mermaid: Flags.boolean({ description: 'print a Mermaid sequence diagram' }),
    follow: Flags.boolean({
      char: 'f',
      description: 'go on with what happens, until Ctrl-C; with --json, one step a line',
      exclusive: ['mermaid'],
    }),
  }

  async run() {
    const { args, flags } = await this.parse(TraceThread)
    const trace = await this.call('GET /traces/{id}', { path: { id: args.id } })
    if (flags.follow) return this.#follow(trace)
    const now = Date.now()
    if (this.isQuiet) this.log(trace.thid)
    else
      this.log(
        flags.mermaid
          ? toMermaid(trace, now)
          : traceText(trace, { now, width: this.width, paint: this.paint }),
      )
    if (!flags.mermaid) this.suggest(...decisions(trace))
    return trace
  }

  async #follow({ thid }: Trace): Promise<void> {
    const { signal, interrupted } = interruption()
    const onChange = (isThere: boolean) =>
      this.say(isThere ? 'The daemon is there again.' : 'The daemon has gone; waiting for it to come back.')
    const events = await this.openEvents({ thid }, { signal, onChange })
    const seen = new Set<string>()
    let waiting = ''
    for await (const trace of follow(
      () => this.call('GET /traces/{id}', { path: { id: thid } }),
      events,
      signal,
    )) {
      const fresh = toLines(trace).filter(({ step }) => !seen.has(keyOf(step)))
      const isFirst = seen.size === 0
      for (const { step } of fresh) seen.add(keyOf(step))
      if (this.jsonEnabled() || this.isQuiet)
        for (const { step } of fresh) this.#write(this.isQuiet ? keyOf(step) : compactJson(step))
      else if (fresh.length > 0) this.#write(this.#table(fresh, isFirst))
      // Said again when there is something else to wait for, not when it has waited for longer.
      const wanted = compactJson(
        trace.pending.map(({ what, name, recordId, state, reason }) => [what, name, recordId, state, reason]),
      )
      if (wanted !== waiting)
        this.say(pendingLines(trace, Date.now()).slice(1).join('\n') || 'It waits for nothing.')
      waiting = wanted
    }
    process.exitCode = interrupted()
  }

  #table(lines: Parameters<typeof linesTable>[0], withHeading: boolean): string {
    const text = linesTable(lines, this.width, this.paint)
    return withHeading ? text : text.split('\n').slice(1).join('\n')
  }

  #write(text: string): void {
    process.stdout.write(`${text}\n`)
  }
}

/** The commands that come next where it is this side's turn. */
function decisions({ pending }: Trace): (string | undefined)[] {
  return pending.map(({ what, topic, state, recordId }) =>
    what === 'decision' && state !== undefined && recordId !== undefined
      ? nextCommand(topic as Topic, state, recordId)
      : undefined,
  )
}
