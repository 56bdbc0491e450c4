/** `agent did publish` */
import { ownDidArg } from '../../cli/input/did.ts'
import { kinds, OperatingCommand, waitFlags } from '../../cli/operating.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default class DidPublish extends OperatingCommand {
  static override summary = 'Publish a DID of the wallet on the ledger'
  static override description =
    'With --wait, until everybody can resolve it. Publishing it again changes nothing.'
  static override examples = [
    '<%= config.bin %> did publish did:prism:…',
    '<%= config.bin %> did publish did:prism:… --wait --timeout 30m',
  ]
  static override args = { did: ownDidArg }
  static override flags = waitFlags()

  protected override readonly questions = { did: whichDid('Which DID?') }

  async run() {
    const { args, flags } = await this.parse(DidPublish)
    const seconds = this.patience(flags)
    const published = await this.call('POST /did-registrar/dids/{didRef}/publications', {
      path: { didRef: args.did },
    })
    return this.follow(published, kinds.publication, seconds)
  }
}
