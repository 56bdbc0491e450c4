/** `agent proof show` */
import * as Args from '@oclif/core/args'
import { candidatesTable, presentCommands } from '../../cli/format/candidates.ts'
import { presentationFields, type PresentationRecord } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { InvitingCommand } from '../../cli/inviting.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/prompts/qr-choice.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ProofShow extends InvitingCommand {
  static override summary = 'Show a presentation record'
  static override description =
    'Of a request that was received, with the credentials that answer it. Exits with 8 when its presentation does not hold.'
  static override examples = ['<%= config.bin %> proof show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the presentation record' }),
  }
  static override flags = askedQrFlags()

  protected override readonly questions = { id: whichRecord('proof') }

  async run() {
    const { args, flags } = await this.parse(ProofShow)
    const qr = chooseAskedQr(flags)
    const record = await this.call('GET /present-proof/presentations/{presentationId}', {
      path: { presentationId: args.id },
    })
    this.print(record.presentationId, presentationFields(record))
    await this.showAgain(
      record.presentationId,
      record.status === 'InvitationGenerated' ? record.invitation?.invitationUrl : undefined,
      qr,
    )
    if (record.role === 'Prover' && record.status === 'RequestReceived') await this.#suggestCandidates(record)
    else this.suggest(nextCommand('proof', record.status, record.presentationId))
    if (record.status === 'PresentationVerificationFailed') process.exitCode = 8
    return record
  }

  async #suggestCandidates({ presentationId }: PresentationRecord) {
    if (this.isQuiet || this.jsonEnabled()) return
    const found = await this.call('GET /present-proof/presentations/{presentationId}/candidates', {
      path: { presentationId },
    })
    const { candidates, others } = found
    if (candidates.length > 0) this.log(`\n${candidatesTable(candidates, this.width)}`)
    else if (others.length > 0)
      this.log(`\nNo credential of this wallet answers it:\n${candidatesTable(others, this.width)}`)
    this.suggest(...presentCommands(presentationId, found))
  }
}
