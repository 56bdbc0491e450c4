/** Help that begins with examples: most who ask want to see how it is done. */
import { CommandHelp as OclifCommandHelp, Help } from '@oclif/core/help'

/** Flags that every command has, or every command that talks to a daemon; they have sections of their own. */
const common = ['GLOBAL', 'DAEMON']

/** What somebody who has just installed it can do. */
const firstSteps = `$ agent demo
$ agent daemon start
$ agent connection invite --wait
$ agent credential offer --help`

class CommandHelp extends OclifCommandHelp {
  protected override sections() {
    const sections = super.sections()
    const isExamples = ({ header }: { header: string }) => header === 'EXAMPLES'
    return [...sections.filter(isExamples), ...sections.filter((section) => !isExamples(section))]
  }

  /** Without the flags that stand in every usage. */
  protected override defaultUsage() {
    const whole = this.command
    const own = Object.entries(whole.flags).filter(([, { helpGroup }]) => helpGroup === undefined || !common.includes(helpGroup))
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

  override formatRoot(): string {
    const [first, ...rest] = super.formatRoot().split('\n\n')
    return [first, this.section('EXAMPLES', firstSteps), ...rest].join('\n\n')
  }
}
