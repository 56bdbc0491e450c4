/** `agent completion` */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as Args from '@oclif/core/args'
import { UsageError } from '../cli/errors/errors.ts'
import { PlainCommand } from '../cli/plain.ts'

/** The files of the scripts, which ask `agent complete` on every tab (bin/agent.cjs). */
const files = { bash: 'agent.bash', zsh: '_agent', fish: 'agent.fish' } as const
type Shell = keyof typeof files

export default class Completion extends PlainCommand {
  static override summary = 'Print a script that makes the shell complete commands, flags and ids'
  static override description =
    'Ids of connections, credentials, proofs, DIDs and the like are asked of the daemon, for less than a second. How to install it for good is in docs/completion.md.'
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    'source <(<%= config.bin %> completion zsh)',
    '<%= config.bin %> completion fish | source',
  ]
  static override args = {
    shell: Args.custom<Shell>({ options: Object.keys(files) as Shell[] })({
      ignoreStdin: true,
      description: 'your shell; that of SHELL when left out',
    }),
  }

  async run() {
    const { shell = ownShell(process.env['SHELL']) } = (await this.parse(Completion)).args
    // As far from the bundle as it is from here.
    const script = readFileSync(new URL(`../completions/${files[shell]}`, import.meta.url), 'utf8')
    this.log(script.trimEnd())
    return { shell, script }
  }
}

/** The shell that the environment names. @throws {UsageError} when there is no script for it. */
function ownShell(path: string | undefined): Shell {
  const name = basename(path ?? '')
  const known = (Object.keys(files) as Shell[]).find((shell) => shell === name)
  if (known !== undefined) return known
  throw new UsageError(
    `An argument is missing: shell (bash, zsh or fish). SHELL names ${name || 'no shell'}.`,
    'agent completion bash',
  )
}
