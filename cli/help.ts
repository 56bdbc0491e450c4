/** Help of commands, with the examples first. */
import type { Interfaces } from '@oclif/core'
import { CommandHelp as OclifCommandHelp, Help } from '@oclif/core/help'
import { exit } from '@oclif/core/errors'
import { wrap } from './format/text.ts'

/** The commands that answer one kind of link. `agent accept` answers all. */
const answeredByAccept = new Set([
  'connection:accept',
  'credential:accept-invitation',
  'proof:accept-invitation',
  'oid4vc:receive',
  'oid4vc:present',
  'onboard:submit',
  'auth:respond',
])

/** Groups of flags that most commands have. They have their own sections. */
const common = ['GLOBAL', 'DAEMON']

const firstSteps = `$ agent demo
$ agent daemon start
$ agent connection invite --wait
$ agent credential offer --help`

/** Fills in the templates that commands use. oclif compiles every text as a template of EJS. */
function fill(text: string, bin: string, commandId = ''): string {
  return text.replaceAll('<%= config.bin %>', bin).replaceAll('<%= command.id %>', commandId)
}

/** Breaks lines at spaces. Undefined if a word is too long; oclif breaks words too, and takes longer. */
function wrapWords(text: string, columns: number): string | undefined {
  const lines = text.split('\n').flatMap((line) => wrap(line, columns))
  return lines.every((line) => line.length <= columns) ? lines.join('\n') : undefined
}

class CommandHelp extends OclifCommandHelp {
  override render = (text: string) => fill(text, this.config.bin, this.command.id)

  override wrap(text: string, spacing = this.indentSpacing) {
    return wrapWords(this.render(text), this.opts.maxWidth - spacing) ?? super.wrap(text, spacing)
  }

  protected override sections() {
    const sections = super.sections()
    const isExamples = ({ header }: { header: string }) => header === 'EXAMPLES'
    return [...sections.filter(isExamples), ...sections.filter((section) => !isExamples(section))]
  }

  /** Omits the common flags from the usage. */
  protected override defaultUsage() {
    const whole = this.command
    const own = Object.entries(whole.flags).filter(
      ([, { helpGroup }]) => helpGroup === undefined || !common.includes(helpGroup),
    )
    this.command = { ...whole, flags: Object.fromEntries(own) }
    try {
      return super.defaultUsage()
    } finally {
      this.command = whole
    }
  }
}

export default class AgentHelp extends Help {
  protected override CommandHelpClass = CommandHelp
  override render = (text: string) => fill(text, this.config.bin)

  override wrap(text: string, spacing = this.indentSpacing) {
    return wrapWords(this.render(text), this.opts.maxWidth - spacing) ?? super.wrap(text, spacing)
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
    const words = subject.flatMap((arg) => arg.split(/[: ]/))
    const id = words.join(':')
    const isKnown =
      words.some((_, last) => this.config.findCommand(words.slice(0, last + 1).join(':'))) ||
      this.config.findTopic(id)
    if (words.length === 0 || isKnown) return super.showHelp(subject)
    const { reportNotFound } = await import('./errors/parsing.ts')
    reportNotFound(this.config, id, argv)
    exit(2)
  }

  /** Leaves out the commands that answer one kind of link, and names the one for all. */
  protected override async showTopicHelp(topic: Interfaces.Topic): Promise<void> {
    const answering = this.config.commands.filter(
      ({ id }) => answeredByAccept.has(id) && id.startsWith(`${topic.name}:`),
    )
    for (const command of answering) command.hidden = true
    await super.showTopicHelp(topic)
    if (answering.length > 0)
      this.log(`A link, a QR code or a picture of one is answered by \`${this.config.bin} accept\`.\n`)
  }

  override formatRoot(): string {
    const { bin, pjson, userAgent } = this.config
    return [
      pjson.oclif.description,
      this.section('EXAMPLES', firstSteps),
      this.section('VERSION', this.wrap(userAgent)),
      this.section('USAGE', this.wrap(`$ ${bin} [COMMAND]`)),
    ].join('\n\n')
  }
}
