/** Help as a terminal of 80 columns shows it, without colours. */
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { Config } from '@oclif/core'
import AgentHelp from '../../cli/help.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

class WrittenHelp extends AgentHelp {
  readonly written: string[] = []

  override log(...texts: string[]): void {
    this.written.push(texts.join(' '))
  }
}

/** What `agent <words> --help` prints; with words of no command or topic, what there is at the top. */
export async function helpOf(words: readonly string[]): Promise<string> {
  // Whoever shows help changes what they show it of, so each has a configuration of its own.
  const config = await Config.load({ root })
  // The page is that of any release, on any machine.
  Object.assign(config, { userAgent: 'identity-agent/<version> <platform> node-<version>' })
  const help = new WrittenHelp(config, { ...config.pjson.oclif.helpOptions, maxWidth: 80, stripAnsi: true })
  await help.showHelp([...words, '--help'])
  return stripVTControlCharacters(help.written.join('\n'))
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
