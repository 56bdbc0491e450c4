import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { detach } from '../cli/daemon/launch.ts'
import { defineLocalCommand } from '../cli/define-command.ts'
import { failure, stopDaemon, type Name } from '../cli/demo/party.ts'
import { Receiver } from '../cli/demo/changes.ts'
import { createNarrator, silent, type Look, type Narrator, type Print } from '../cli/demo/narrator.ts'
import { createPanes, hasPanes } from '../cli/demo/panes.ts'
import { scenarios, show, usual, type Scenario, type Summary } from '../cli/demo/show.ts'
import { CommandError } from '../cli/errors/errors.ts'
import { hasColours } from '../cli/format/colour.ts'
import { fields } from '../cli/format/table.ts'
import { duration } from '../cli/format/time.ts'

type Stage = {
  folder: string
  narrator: Narrator
  children: Map<Name, ChildProcess>
  signal: AbortSignal
  print: Print
}

export default defineLocalCommand({
  summary: 'Show two agents connect, issue a credential and prove it',
  description:
    'Starts two daemons in a temporary folder, controls them over their HTTP API, prints each call as a command and as a curl line, then stops and removes them. Your own daemon and settings are not touched.',
  examples: ['agent demo', 'agent demo --scenario all', 'agent demo --pace 350'],
  flags: {
    scenario: Flags.option({
      options: Object.keys(scenarios) as Scenario[],
      default: usual,
      description: 'how far the demo goes',
    })(),
    curl: Flags.boolean({
      allowNo: true,
      description: 'print each call as a curl line too; default: without panes',
    }),
    plain: Flags.boolean({
      description:
        'print lines, without frames, for screen readers; default: two panes in a terminal of 100 columns or more',
    }),
    pace: Flags.integer({
      min: 0,
      max: 2_000,
      description: 'milliseconds to pause for each line, to read along: 350',
    }),
    keep: Flags.boolean({
      description: 'leave the daemons running, and print how to use and stop them',
    }),
  },
  async run({ flags, isJson, log }) {
    const { keep, scenario, pace } = flags
    const print: Print = (text, lines = 1) => {
      log(text)
      if (pace) pause(pace * lines)
    }
    const folder = mkdtempSync(join(tmpdir(), 'identity-agent-demo-'))
    const children = new Map<Name, ChildProcess>()
    const narrator = isJson ? silent : createNarrator(print, lookOf(flags))
    const interruption = new AbortController()
    const { signal } = interruption
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new CommandError('Interrupted.', 130)))
    })
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interruption.abort())
    let isKept = false
    try {
      const stage = { folder, narrator, children, signal, print }
      const result = await Promise.race([showScenario(scenario, keep, stage), interrupted])
      print(`\nNext:\n${nextSteps(keep ? folder : undefined)}`)
      if (keep) {
        isKept = true
        for (const child of children.values()) detach(child)
      }
      return { ...result, ...(keep && { folder }) }
    } catch (error) {
      throw failure(error, children.keys(), folder)
    } finally {
      interruption.abort()
      if (!isKept) {
        await Promise.all([...children.values()].map(stopDaemon))
        rmSync(folder, { recursive: true, force: true })
      }
    }
  },
})

async function showScenario(scenario: Scenario, isKept: boolean, stage: Stage): Promise<Summary> {
  const receiver = await Receiver.open()
  stage.signal.addEventListener('abort', () => receiver.close())
  const { leave, ...summary } = await show(scenario, { ...stage, receiver })
  stage.print(`\n${summaryText(summary)}`)
  if (isKept) await leave()
  return summary
}

/** How the demo is printed in this terminal. Curl lines and values to copy do not fit into panes. */
function lookOf(flags: { curl?: boolean; plain: boolean; keep: boolean }): Look {
  const { stdout } = process
  const isLinear = flags.plain || flags.keep || flags.curl === true
  const panes = !isLinear && hasPanes(stdout) ? createPanes(stdout.columns) : undefined
  const { isTTY: isTerminal, columns, rows } = stdout
  return {
    isTerminal,
    isColoured: hasColours(stdout),
    isKept: flags.keep,
    hasCurl: flags.curl ?? !panes,
    screen: { columns, rows },
    panes,
  }
}

/** What happened, and how long it took. The default scenario is measured when it runs again without output. */
function summaryText({ scenario, flow, totalMs }: Summary): string {
  if (!flow) return `Done (${scenario}) in ${duration(totalMs)}.`
  const { connectMs, issueMs, presentMs } = flow
  return `Again without output: connected in ${duration(connectMs)}, issued in ${duration(issueMs)}, proved in ${duration(presentMs)}.
Everything took ${duration(totalMs)}.`
}

/** Blocks this process, but not the daemons, so that a paced demo prints in the same order as another. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Three commands to continue with. `folder` has the daemons that `--keep` leaves running. */
function nextSteps(folder: string | undefined): string {
  const program = process.argv[1] ?? 'agent'
  const agent = basename(program) === 'agent' ? 'agent' : `node ${relative('', program)}`
  if (folder === undefined)
    return fields([
      [`  ${agent} daemon start`, '# an agent of your own'],
      [`  ${agent} tui`, '# what it holds, live'],
    ])
  return [
    `  export AGENT_CONFIG_DIR=${join(folder, 'config')}`,
    `  ${agent} credential list --profile alice`,
    `  ${agent} connection list --profile acme`,
    `  ${agent} daemon logs --profile acme`,
    'Stop and remove the daemons, which keep running:',
    `  ${agent} daemon stop --profile acme; ${agent} daemon stop --profile alice; rm -r ${folder}`,
  ].join('\n')
}
