/** `agent proof present` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { presentationFields } from '../_format/records.ts'

export default class ProofPresent extends AgentCommand {
  static override summary = 'Answer a proof request with credentials (prover)'
  static override examples = ['<%= config.bin %> proof present <id> --credential <id>']
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }) }
  static override flags = {
    credential: Flags.string({
      required: true,
      multiple: true,
      multipleNonGreedy: true,
      description: 'record id of a credential that this wallet holds',
    }),
  }

  async run() {
    const { args, flags } = await this.parse(ProofPresent)
    const record = await this.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId: args.id },
      body: { action: 'request-accept', proofId: flags.credential },
    })
    this.print(record.presentationId, presentationFields(record))
    this.suggest(`agent proof show ${record.presentationId}`)
    return record
  }
}
