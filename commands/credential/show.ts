/** `agent credential show` */
import * as Args from '@oclif/core/args'
import { credentialFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { InvitingCommand } from '../../cli/inviting.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/prompts/qr-choice.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class CredentialShow extends InvitingCommand {
  static override summary =
    'Show a credential record: what its credential says, how long it is valid, and whether it is revoked'
  static override description =
    'The status list is asked anew each time; `agent credential export` prints the credential itself.'
  static override examples = [
    '<%= config.bin %> credential show <id>',
    '<%= config.bin %> credential show <id> --json | jq .content.standing',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = askedQrFlags()

  protected override readonly questions = { id: whichRecord('credential') }

  async run() {
    const { args, flags } = await this.parse(CredentialShow)
    const qr = chooseAskedQr(flags)
    const path = { recordId: args.id }
    const record = await this.call('GET /issue-credentials/records/{recordId}', { path })
    const isWanted = record.credential !== undefined && !this.isQuiet
    const content = isWanted
      ? await this.call('GET /issue-credentials/records/{recordId}/credential', { path })
      : undefined
    this.print(record.recordId, credentialFields(record, content))
    await this.showAgain(
      record.recordId,
      record.protocolState === 'InvitationGenerated' ? record.invitation?.invitationUrl : undefined,
      qr,
    )
    this.suggest(nextCommand('credential', record.protocolState, record.recordId))
    return content ? { ...record, content } : record
  }
}
