/** `agent proof show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { presentationFields } from '../_format/records.ts'
import { nextCommand } from '../_format/states.ts'

export default class ProofShow extends AgentCommand {
  static override summary = 'Show a presentation record'
  static override description = 'Exits with 8 when its presentation does not hold.'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }) }

  async run() {
    const { args } = await this.parse(ProofShow)
    const record = await this.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId: args.id } })
    this.print(record.presentationId, presentationFields(record))
    const isOpen = record.status === 'InvitationGenerated' && !this.isQuiet
    if (isOpen && record.invitation) this.log(`\n${record.invitation.invitationUrl}`)
    this.suggest(nextCommand('proof', record.status, record.presentationId))
    if (record.status === 'PresentationVerificationFailed') process.exitCode = 8
    return record
  }
}
