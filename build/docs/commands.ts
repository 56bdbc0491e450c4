/** Writes `docs/reference/commands.md`: the help of every command. */
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { Config } from '@oclif/core'
import AgentHelp from '../../cli/help.ts'
import { readCommands, topics, type Command } from './manifest.ts'

export async function commandsPage(): Promise<string> {
  const commands = readCommands().filter(({ hidden }) => !hidden)
  const alone = commands.filter(({ id }) => !id.includes(':'))
  const names = Object.keys(topics).filter((name) => commandsOf(name, commands).length > 0)
  const parts = [
    '# Commands',
    'The output of `agent <command> --help` for every command. `npm run docs` writes this page. [json.md](json.md) describes the output of `--json`, [command-line.md](command-line.md#shell-completion) shell completion.',
    contents(names, alone),
    '## agent',
    await block([]),
  ]
  for (const name of names) {
    parts.push(`## agent ${name.replaceAll(':', ' ')}`, `${topics[name]}.`)
    for (const { id } of commandsOf(name, commands))
      parts.push(`### ${heading(id)}`, await block(id.split(':')))
  }
  for (const { id } of alone) parts.push(`## ${heading(id)}`, await block([id]))
  return `${parts.join('\n\n')}\n`
}

/** Returns the commands of a topic, without those of its subtopics. */
function commandsOf(topic: string, commands: readonly Command[]): Command[] {
  return commands.filter(({ id }) => id.slice(0, id.lastIndexOf(':')) === topic && id.includes(':'))
}

const heading = (id: string) => `agent ${id.replaceAll(':', ' ')}`
const link = (text: string, title: string) => `[${text}](#${title.replaceAll(' ', '-')})`

function contents(names: readonly string[], alone: readonly Command[]): string {
  const rows = [
    ...names.map((name) => `| ${link(name.replaceAll(':', ' '), heading(name))} | ${topics[name]} |`),
    ...alone.map(({ id, summary }) => `| ${link(id, heading(id))} | ${summary} |`),
  ]
  return ['| | |', '|---|---|', ...rows].join('\n')
}

async function block(words: readonly string[]): Promise<string> {
  return `\`\`\`text\n${await helpOf(words)}\n\`\`\``
}

const root = fileURLToPath(new URL('../..', import.meta.url))

class WrittenHelp extends AgentHelp {
  readonly output: string[] = []

  override log(...texts: string[]): void {
    this.output.push(texts.join(' '))
  }
}

/**
 * Returns the help of a command or topic for 80 columns, without colours. No words give the help of the
 * program.
 */
export async function helpOf(words: readonly string[]): Promise<string> {
  // Showing help changes the configuration, so each call loads its own.
  const config = await Config.load({ root })
  // The page must not depend on the machine that writes it.
  Object.assign(config, { userAgent: 'identity-agent/<version> <platform> node-<version>' })
  const help = new WrittenHelp(config, { ...config.pjson.oclif.helpOptions, maxWidth: 80, stripAnsi: true })
  await help.showHelp([...words, '--help'])
  return stripVTControlCharacters(help.output.join('\n'))
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
