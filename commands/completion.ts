import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as Args from '@oclif/core/args'
import { defineLocalCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'

/** The completion scripts. They run `agent complete` on every tab (bin/agent.cjs). */
const files = { bash: 'agent.bash', zsh: '_agent', fish: 'agent.fish' } as const
type Shell = keyof typeof files

export default defineLocalCommand({
  summary: 'Print a script for shell completion of commands, flags and ids',
  description:
    'The script asks the daemon for ids of connections, credentials, proofs and DIDs, for less than a second. docs/reference/command-line.md describes the permanent installation.',
  examples: [
    'source <(agent completion bash)',
    'source <(agent completion zsh)',
    'agent completion fish | source',
  ],
  args: {
    shell: Args.custom<Shell>({ options: Object.keys(files) as Shell[] })({
      ignoreStdin: true,
      description: 'your shell; default: from SHELL',
    }),
  },
  async run({ args, log }) {
    const { shell = ownShell(process.env['SHELL']) } = args
    // The path is the same from the bundle.
    const script = readFileSync(new URL(`../cli/completion/scripts/${files[shell]}`, import.meta.url), 'utf8')
    log(script.trimEnd())
    return { shell, script }
  },
})

/** The shell of the SHELL variable. @throws {UsageError} when there is no script for it. */
function ownShell(path: string | undefined): Shell {
  const name = basename(path ?? '')
  const known = (Object.keys(files) as Shell[]).find((shell) => shell === name)
  if (known !== undefined) return known
  throw new UsageError(
    `An argument is missing: shell (bash, zsh or fish). SHELL names ${name || 'no shell'}.`,
    'agent completion bash',
  )
}
