/** `agent demo` */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { lastLines } from './_daemon/follow.ts'
import { letGo, logPath } from './_daemon/launch.ts'
import { formatLogLine } from './_daemon/log-line.ts'
import { Receiver } from './_demo/events.ts'
import { createNarrator, silent } from './_demo/narrator.ts'
import { stopDaemon, type Name } from './_demo/party.ts'
import { show, type Summary } from './_demo/show.ts'
import { toReport } from './_errors/report.ts'
import { CommandError } from './_errors/usage.ts'
import { fields } from './_format/table.ts'
import { duration } from './_format/time.ts'
import { shorten } from './_format/width.ts'
import { PlainCommand } from './_plain.ts'

export default class Demo extends PlainCommand {
  static override summary = 'Show two agents connect, issue a credential and prove it'
  static override description =
    'Starts two daemons of its own in a temporary folder, drives them over their HTTP API by the events they report, prints each call as a curl line, and stops and removes them. Your own daemon and settings are left alone.'
  static override flags = {
    keep: Flags.boolean({ description: 'leave the daemons running, and say how to explore and to stop them' }),
  }

  async run() {
    const { flags } = await this.parse(Demo)
    const folder = mkdtempSync(join(tmpdir(), 'identity-agent-demo-'))
    const receiver = await Receiver.open()
    const children = new Map<Name, ChildProcess>()
    const { isTTY: isTerminal, columns, rows } = process.stdout
    const print = (text: string) => this.log(text)
    const narrator = this.jsonEnabled() ? silent : createNarrator(print, { isTerminal, isKept: flags.keep, screen: { columns, rows } })
    const interruption = new AbortController()
    const interrupted = new Promise<never>((_, reject) => {
      interruption.signal.addEventListener('abort', () => reject(new CommandError('Interrupted.', 130)))
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort())
    let isKept = false
    try {
      const shown = show({ folder, receiver, narrator, children, signal: interruption.signal })
      const { leave, ...summary } = await Promise.race([shown, interrupted])
      this.summarise(summary)
      if (flags.keep) {
        await leave()
        isKept = true
        for (const child of children.values()) letGo(child)
        this.explainKept(folder)
      }
      return { ...summary, ...(flags.keep && { folder }) }
    } catch (error) {
      throw failure(error, children.keys(), folder)
    } finally {
      receiver.close()
      if (!isKept) {
        await Promise.all([...children.values()].map(stopDaemon))
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }

  private summarise({ coldStartMs, flow, changes, totalMs }: Summary): void {
    const lines = fields([
      ['cold start to healthy', `acme ${duration(coldStartMs.acme)}, alice ${duration(coldStartMs.alice)}`],
      [
        'one flow, warm',
        `${duration(flow.flowMs)} (connect ${duration(flow.connectMs)}, issue ${duration(flow.issueMs)}, present ${duration(flow.presentMs)})`,
      ],
      ['state changes', `${changes}, each reported by an event; nothing was polled`],
      ['everything', duration(totalMs)],
    ])
    this.log(`\n${lines}`)
  }

  private explainKept(folder: string): void {
    const program = process.argv[1] ?? 'agent'
    const agent = basename(program) === 'agent' ? 'agent' : `node ${relative('', program)}`
    this.log(
      [
        '\nThe daemons go on. Explore:',
        `  export AGENT_CONFIG_DIR=${join(folder, 'config')}`,
        `  ${agent} credential list --profile alice`,
        `  ${agent} connection list --profile acme`,
        `  ${agent} daemon logs --profile acme`,
        'Stop and remove them:',
        `  ${agent} daemon stop --profile acme; ${agent} daemon stop --profile alice; rm -r ${folder}`,
      ].join('\n'),
    )
  }
}

/** What went wrong, with what the daemons say about it. */
function failure(error: unknown, started: Iterable<Name>, folder: string): CommandError {
  const { title, detail, exitCode } = toReport(error, 'demo')
  if (exitCode === 130) return error as CommandError
  const logs = [...started].flatMap((name) => complaints(name, folder))
  return new CommandError([title, detail, ...logs].filter(Boolean).join('\n'), 1)
}

/** The warnings and errors at the end of a daemon's log. */
function complaints(name: Name, folder: string): string[] {
  const { lines } = lastLines(logPath(join(folder, name)), 200)
  const grave = lines.filter((line) => /"level":[456]0/.test(line) || !line.startsWith('{'))
  return grave.slice(-5).map((line) => shorten(`${name}: ${formatLogLine(line)}`, 500))
}
