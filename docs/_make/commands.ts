/** `docs/commands.md`: every command's help. */
import { helpOf } from './help.ts'
import { readCommands, type Command } from './manifest.ts'
import { topics } from './topics.ts'

export async function commandsPage(): Promise<string> {
  const commands = readCommands().filter(({ hidden }) => !hidden)
  const alone = commands.filter(({ id }) => !id.includes(':'))
  const names = Object.keys(topics).filter((name) => commandsOf(name, commands).length > 0)
  const parts = [
    '# Commands',
    'Each is shown as `agent <command> --help` shows it. This page is written by `npm run docs`; [json.md](json.md) says what `--json` prints, [completion.md](completion.md) how the shell completes them.',
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

/** The commands of a topic, without those of a topic within it. */
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
