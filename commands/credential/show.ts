/** `agent credential show` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { CommandError } from '../_errors/usage.ts'
import { credentialFields } from '../_format/records.ts'
import { nextCommand } from '../_format/states.ts'

export default class CredentialShow extends AgentCommand {
  static override summary = 'Show a credential record'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }) }
  static override flags = { raw: Flags.boolean({ description: 'print the credential itself, a compact JWT or SD-JWT, and nothing else' }) }

  async run() {
    const { args, flags } = await this.parse(CredentialShow)
    const record = await this.call('GET /issue-credentials/records/{recordId}', { path: { recordId: args.id } })
    if (flags.raw) {
      if (record.credential === undefined)
        throw new CommandError(
          `There is no credential yet; the record is in ${record.protocolState}.`,
          5,
          `agent credential show ${args.id}`,
        )
      this.log(Buffer.from(record.credential, 'base64').toString())
      return record
    }
    this.print(record.recordId, credentialFields(record))
    const isOpen = record.protocolState === 'InvitationGenerated' && !this.isQuiet
    if (isOpen && record.invitation) this.log(`\n${record.invitation.invitationUrl}`)
    this.suggest(nextCommand('credential', record.protocolState, record.recordId))
    return record
  }
}
