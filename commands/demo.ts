/** `agent demo` */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { findDaemon, waitForEnd } from '../cli/daemon/find.ts'
import { letGo } from '../cli/daemon/launch.ts'
import { failure } from '../cli/demo/complaints.ts'
import { Receiver } from '../cli/demo/events.ts'
import { createNarrator, silent, type Narrator } from '../cli/demo/narrator.ts'
import { stopDaemon, type Name } from '../cli/demo/party.ts'
import { startRecording, type Recording } from '../cli/demo/recording.ts'
import { scenarios, usual, type Scenario } from '../cli/demo/scenario.ts'
import { show, type Summary } from '../cli/demo/show.ts'
import { aliceFolder, host } from '../cli/demo/two-terminals.ts'
import { CommandError, UsageError } from '../cli/errors/errors.ts'
import { hasColours } from '../cli/format/colour.ts'
import { fields } from '../cli/format/table.ts'
import { duration } from '../cli/format/time.ts'
import { PlainCommand } from '../cli/plain.ts'

/** How long a daemon may take to end that somebody else has started. */
const endMs = 5_000

type Stage = { folder: string; narrator: Narrator; children: Map<Name, ChildProcess>; signal: AbortSignal }

export default class Demo extends PlainCommand {
  static override summary = 'Show two agents connect, issue a credential and prove it'
  static override description =
    'Starts two daemons of its own in a temporary folder, drives them over their HTTP API by the events they report, prints each call as a command and as a curl line, and stops and removes them. Your own daemon and settings are left alone. With --two-terminals only one of them is driven, and you are the other.'
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --scenario all',
    '<%= config.bin %> demo --two-terminals',
    '<%= config.bin %> demo --record demo.cast   # asciinema play demo.cast',
  ]
  static override flags = {
    scenario: Flags.option({
      options: Object.keys(scenarios) as Scenario[],
      default: usual,
      description:
        'how far it goes: to a connection, a credential, a proof, its revocation; onboarding, signing in; or all of it',
    })(),
    'two-terminals': Flags.boolean({
      description: 'start one side, and say what to type in another terminal as the other',
    }),
    record: Flags.string({ description: 'record what is printed in this new file, as asciinema plays it' }),
    keep: Flags.boolean({
      description: 'leave the daemons running, and say how to explore and to stop them',
    }),
  }

  #recording: Recording | undefined

  async run() {
    const { flags } = await this.parse(Demo)
    const { keep, scenario, record, 'two-terminals': isForTwo } = flags
    const isSilent = this.jsonEnabled()
    if (isSilent && (isForTwo || record !== undefined))
      throw new UsageError('--json prints nothing to type or to record: leave one of them out.')
    const { isTTY: isTerminal, columns, rows } = process.stdout
    if (record !== undefined)
      this.#recording = startRecording(record, `agent demo --scenario ${scenario}`, { columns, rows })
    const folder = mkdtempSync(join(tmpdir(), 'identity-agent-demo-'))
    const children = new Map<Name, ChildProcess>()
    const narrator = isSilent
      ? silent
      : createNarrator((text) => this.print(text), {
          isTerminal,
          isColoured: hasColours(process.stdout),
          isKept: keep,
          screen: { columns, rows },
        })
    const interruption = new AbortController()
    const { signal } = interruption
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new CommandError('Interrupted.', 130)))
    })
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interruption.abort())
    let isKept = false
    try {
      const stage = { folder, narrator, children, signal }
      const result = await Promise.race([
        isForTwo ? this.#host(scenario, keep, stage) : this.#show(scenario, keep, stage),
        interrupted,
      ])
      if (keep) {
        isKept = true
        for (const child of children.values()) letGo(child)
        this.#explainKept(folder)
      }
      return { ...result, ...(keep && { folder }) }
    } catch (error) {
      throw failure(error, children.keys(), folder)
    } finally {
      interruption.abort()
      if (!isKept) {
        await Promise.all([...children.values()].map(stopDaemon))
        if (isForTwo) await stopAlice(folder)
        rmSync(folder, { recursive: true, force: true })
      }
      this.#recording?.close()
    }
  }

  async #show(scenario: Scenario, isKept: boolean, stage: Stage): Promise<Summary> {
    const receiver = await Receiver.open()
    stage.signal.addEventListener('abort', () => receiver.close())
    const { leave, ...summary } = await show(scenario, { ...stage, receiver })
    this.#summarise(summary)
    if (isKept) await leave()
    return summary
  }

  async #host(
    scenario: Scenario,
    isKept: boolean,
    stage: Stage,
  ): Promise<{ scenario: Scenario; acme: string }> {
    const { acme, leave } = await host(scenario, stage)
    if (!isKept) await leave()
    return { scenario, acme }
  }

  /** Prints, and records what is printed. */
  private print(text: string): void {
    this.#recording?.print(text)
    this.log(text)
  }

  #summarise({ coldStartMs, flow, changes, totalMs }: Summary): void {
    const parts =
      flow &&
      `connect ${duration(flow.connectMs)}, issue ${duration(flow.issueMs)}, present ${duration(flow.presentMs)}`
    const lines = fields([
      ['cold start to healthy', `acme ${duration(coldStartMs.acme)}, alice ${duration(coldStartMs.alice)}`],
      ['one flow, warm', flow && `${duration(flow.flowMs)} (${parts})`],
      [
        'state changes',
        changes === 0 ? undefined : `${changes}, each reported by an event; nothing was polled`,
      ],
      ['everything', duration(totalMs)],
    ])
    this.print(`\n${lines}`)
  }

  #explainKept(folder: string): void {
    const program = process.argv[1] ?? 'agent'
    const agent = basename(program) === 'agent' ? 'agent' : `node ${relative('', program)}`
    this.print(
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

/** Stops the daemon that was started in the other terminal, if it still runs. */
async function stopAlice(folder: string): Promise<void> {
  const running = await findDaemon(aliceFolder(folder))
  if (!running) return
  process.kill(running.pid, 'SIGTERM')
  if (!(await waitForEnd(running.pid, endMs))) process.kill(running.pid, 'SIGKILL')
}
