/** `agent proof reject` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'
import { presentationFields } from '../../cli/format/records.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ProofReject extends AgentCommand {
  static override summary = 'Decline a proof request (prover), or reject a presentation (verifier)'
  static override description = 'The other side is not told.'
  static override examples = ['<%= config.bin %> proof reject <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }),
  }

  protected override readonly questions = {
    id: whichRecord('proof', ['RequestReceived', 'PresentationVerified']),
  }

  async run() {
    const { args } = await this.parse(ProofReject)
    const path = { presentationId: args.id }
    // The API has an action for either side; the record knows which side this is.
    const { role } = await this.call('GET /present-proof/presentations/{presentationId}', { path })
    const action = role === 'Prover' ? 'request-reject' : 'presentation-reject'
    const record = await this.call('PATCH /present-proof/presentations/{presentationId}', {
      path,
      body: { action },
    })
    this.print(record.presentationId, presentationFields(record))
    return record
  }
}
