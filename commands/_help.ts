/** Help that begins with examples: most who ask want to see how it is done. */
import { CommandHelp as OclifCommandHelp, Help } from '@oclif/core/help'

class CommandHelp extends OclifCommandHelp {
  protected override sections() {
    const sections = super.sections()
    const isExamples = ({ header }: { header: string }) => header === 'EXAMPLES'
    return [...sections.filter(isExamples), ...sections.filter((section) => !isExamples(section))]
  }
}

export default class AgentHelp extends Help {
  protected override CommandHelpClass = CommandHelp
}
