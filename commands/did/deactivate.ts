/** `agent did deactivate` */
import * as Flags from '@oclif/core/flags'
import { shortForm } from '../../cli/format/did.ts'
import { ownDidArg } from '../../cli/input/did.ts'
import { kinds, OperatingCommand, waitFlags } from '../../cli/operating.ts'
import { confirm } from '../../cli/prompts/confirm.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default class DidDeactivate extends OperatingCommand {
  static override summary = 'Deactivate a published DID, for good'
  static override description =
    'Nobody resolves it any more: what it has issued does not verify from then on. Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> did deactivate did:prism:…',
    '<%= config.bin %> did deactivate did:prism:… --yes --wait',
  ]
  static override args = { did: ownDidArg }
  static override flags = {
    yes: Flags.boolean({ char: 'y', description: 'do it without asking' }),
    ...waitFlags(),
  }

  protected override readonly questions = { did: whichDid('Which DID?') }

  async run() {
    const { args, flags } = await this.parse(DidDeactivate)
    const seconds = this.patience(flags)
    if (!flags.yes) await confirm(`Deactivate ${shortForm(args.did)}? It cannot be taken back.`)
    const deactivated = await this.call('POST /did-registrar/dids/{didRef}/deactivations', {
      path: { didRef: args.did },
    })
    return this.follow(deactivated, kinds.deactivation, seconds)
  }
}
