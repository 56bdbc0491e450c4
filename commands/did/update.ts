/** `agent did update` */
import { actionFlags, readActions, ownDidArg } from '../../cli/input/did.ts'
import { kinds, OperatingCommand, waitFlags } from '../../cli/operating.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default class DidUpdate extends OperatingCommand {
  static override summary = 'Change a published DID: its keys, services and contexts'
  // Made of the flags it would be long, and hard to read.
  static override usage = '<%= command.id %> DID [FLAGS]'
  static override description =
    'All at once or not at all. Removals come first, then changes, additions and contexts, whatever the order of the flags; --actions keeps its own.'
  static override examples = [
    '<%= config.bin %> did update did:prism:… --remove-key issue-1 --add-key issue-2:assertionMethod --wait',
    '<%= config.bin %> did update did:prism:… --add-service site,LinkedDomains,https://example.com',
    '<%= config.bin %> did update did:prism:… --update-service site,,https://new.example.com',
    '<%= config.bin %> did update did:prism:… --actions @actions.json',
  ]
  static override args = { did: ownDidArg }
  static override flags = { ...actionFlags, ...waitFlags() }

  protected override readonly questions = { did: whichDid('Which DID?') }

  async run() {
    const { args, flags } = await this.parse(DidUpdate)
    const seconds = this.patience(flags)
    const actions = readActions(flags)
    const updated = await this.call('POST /did-registrar/dids/{didRef}/updates', {
      path: { didRef: args.did },
      body: { actions },
    })
    return this.follow(updated, kinds.change, seconds)
  }
}
