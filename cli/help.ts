/** Help of commands, with the examples first. */
import type { Interfaces } from '@oclif/core'
import { CommandHelp as OclifCommandHelp, Help } from '@oclif/core/help'
import { exit } from '@oclif/core/errors'
import { colour } from './format/colour.ts'
import { breakCommand, wrap } from './format/text.ts'
import { byUse, groups, withoutAlias } from './tree.ts'

/** The commands that answer one kind of link. `agent accept` answers all. */
const answeredByAccept = new Set([
  'connection:accept',
  'credential:accept-invitation',
  'proof:accept-invitation',
  'oid4vc:receive',
  'oid4vc:present',
  'onboard:submit',
  'signin:respond',
])

/** Groups of flags that most commands have. They have their own sections. */
const common = ['GLOBAL', 'DAEMON']

/** Fills in the templates that commands use. oclif compiles every text as a template of EJS. */
function fill(text: string, bin: string, commandId = ''): string {
  return text.replaceAll('<%= config.bin %>', bin).replaceAll('<%= command.id %>', commandId)
}

/** Breaks a list of options after an option, and other lines at spaces. */
function wrapLine(line: string, columns: number): string[] {
  if (!line.startsWith('<options: ') || line.length <= columns) return wrap(line, columns)
  return wrap(line.replaceAll('|', '| '), columns).map((each) => each.replaceAll('| ', '|'))
}

/** Breaks lines at spaces. Undefined if a word is too long; oclif breaks words too, and takes longer. */
function wrapWords(text: string, columns: number): string | undefined {
  const lines = text.split('\n').flatMap((line) => wrapLine(line, columns))
  return lines.every((line) => line.length <= columns) ? lines.join('\n') : undefined
}

class CommandHelp extends OclifCommandHelp {
  override render = (text: string) => fill(text, this.config.bin, this.command.id)

  /** Descriptions on lines of their own are wrapped with the spacing of two levels, and indented by three. */
  override wrap(text: string, spacing = this.indentSpacing) {
    const indent = spacing === this.indentSpacing * 2 ? spacing + this.indentSpacing : spacing
    return wrapWords(this.render(text), this.opts.maxWidth - indent) ?? super.wrap(text, indent)
  }

  /** Breaks long lines, but not on Windows, whose shells continue a line in other ways. */
  protected override examples(examples: Parameters<OclifCommandHelp['examples']>[0]) {
    const text = super.examples(examples)
    if (this.config.platform === 'win32') return text
    const columns = this.opts.maxWidth - this.indentSpacing
    return text
      ?.split('\n')
      .map((line) => breakCommand(line, columns))
      .join('\n')
  }

  protected override sections() {
    const sections = super.sections()
    const isExamples = ({ header }: { header: string }) => header === 'EXAMPLES'
    return [...sections.filter(isExamples), ...sections.filter((section) => !isExamples(section))]
  }

  /** The arguments and the required flags. */
  protected override defaultUsage() {
    const { id, args, flags } = this.command
    const own = Object.values(flags).filter(
      ({ helpGroup, hidden }) => !hidden && !common.includes(helpGroup ?? ''),
    )
    const required = own.filter((flag) => flag.required)
    return [
      id,
      ...Object.values(args).map((arg) => this.arg(arg)),
      ...required.map((flag) => this.flagHelpLabel(flag).trim()),
      ...(own.length > required.length ? ['[FLAGS]'] : []),
    ].join(' ')
  }
}

/** A terminal with fewer rows gets the first help without empty lines. */
const airyRows = 32

export default class AgentHelp extends Help {
  protected override CommandHelpClass = CommandHelp
  override render = (text: string) => fill(text, this.config.bin)

  override wrap(text: string, spacing = this.indentSpacing) {
    return wrapWords(this.render(text), this.opts.maxWidth - spacing) ?? super.wrap(text, spacing)
  }

  protected override summary(command: Parameters<Help['summary']>[0]) {
    const text = super.summary(command)
    return text && wrap(text, this.opts.maxWidth).join('\n')
  }

  /** As oclif's, which compares every topic with every command. */
  protected override get sortedTopics() {
    return this.config.getPluginsList().flatMap(({ topics }) => topics)
  }

  /** As oclif’s. For an unknown command, suggests a similar one. */
  override async showHelp(argv: string[]): Promise<void> {
    const rest = argv.filter((arg) => arg !== '--help')
    const flag = rest.findIndex((arg) => arg.startsWith('-'))
    const subject = rest.slice(0, flag === -1 ? undefined : flag)
    const words = withoutAlias(subject.flatMap((arg) => arg.split(/[: ]/)))
    const id = words.join(':')
    const isKnown =
      words.some((_, last) => this.config.findCommand(words.slice(0, last + 1).join(':'))) ||
      this.config.findTopic(id)
    if (words.length === 0) return this.log(this.formatRoot(rest.includes('--all')))
    if (isKnown) return super.showHelp(words)
    const { reportNotFound } = await import('./errors/parsing.ts')
    reportNotFound(this.config, subject, argv)
    exit(2)
  }

  /**
   * Leaves out the commands that answer one kind of link, unless there are no others, and names the one for
   * all.
   */
  protected override async showTopicHelp(topic: Interfaces.Topic): Promise<void> {
    const answering = this.config.commands.filter(
      ({ id }) => answeredByAccept.has(id) && id.startsWith(`${topic.name}:`),
    )
    const all = this.config.commands.filter(({ id, hidden }) => !hidden && id.startsWith(`${topic.name}:`))
    if (all.length > answering.length) for (const command of answering) command.hidden = true
    await super.showTopicHelp(topic)
    if (answering.length > 0)
      this.log(`A link, a QR code or a picture of one is answered by \`${this.config.bin} accept\`.\n`)
  }

  /** As oclif's, in the order of use. */
  protected override get sortedCommands() {
    return this.config.commands.filter(({ hidden }) => !hidden).toSorted((a, b) => byUse(a.id, b.id))
  }

  /** Names commands without their topic, which the usage above them has. */
  protected override formatCommands(commands: Parameters<Help['formatCommands']>[0]) {
    const short = commands.map((each) => ({ ...each, id: each.id.slice(each.id.lastIndexOf(':') + 1) }))
    return super.formatCommands(short)
  }

  /** The groups: the main topics and commands, or all. */
  override formatRoot(isAll = false): string {
    const paint = colour(process.stdout)
    const about = new Map<string, string | undefined>([
      ...this.config.commands.map(({ id, summary }): [string, string | undefined] => [id, summary]),
      ...this.sortedTopics.map(({ name, description }): [string, string | undefined] => [name, description]),
    ])
    const listed = groups.map(({ name, main, more }) => ({
      name,
      entries: [...main, ...(isAll ? more : [])].filter((entry) => about.has(entry)),
    }))
    const first = Math.max(...listed.map(({ name }) => name.length)) + 2
    const second = Math.max(...listed.flatMap(({ entries }) => entries.map(({ length }) => length))) + 2
    const indent = first + second
    const parts = listed.map(({ name, entries }) =>
      entries.flatMap((entry, index) => {
        const lines = wrap(about.get(entry) ?? '', this.opts.maxWidth - indent)
        const head = paint('strong', (index === 0 ? name : '').padEnd(first)) + entry.padEnd(second)
        return lines.map((line, at) => (at === 0 ? head : ' '.repeat(indent)) + line)
      }),
    )
    const { isTTY, rows } = process.stdout
    const isAiry = isAll || !isTTY || rows >= airyRows
    const { bin, pjson } = this.config
    const foot = isAll
      ? `Commands of a topic: ${bin} help <topic>`
      : `Commands of a topic: ${bin} help <topic>. All topics: ${bin} help --all`
    return [[pjson.oclif.description], ...parts, [foot]]
      .map((lines) => lines.join('\n'))
      .join(isAiry ? '\n\n' : '\n')
  }
}

export type Config = Interfaces.Config
