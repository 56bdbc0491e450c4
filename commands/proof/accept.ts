/** `agent proof accept` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { presentationFields } from '../../cli/format/records.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ProofAccept extends AgentCommand {
  static override summary = 'Accept a presentation that was verified (verifier)'
  static override examples = ['<%= config.bin %> proof accept <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }),
  }

  protected override readonly questions = { id: whichRecord('proof', ['PresentationVerified']) }

  async run() {
    const { args } = await this.parse(ProofAccept)
    const record = await this.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId: args.id },
      body: { action: 'presentation-accept' },
    })
    this.print(record.presentationId, presentationFields(record))
    return record
  }
}
