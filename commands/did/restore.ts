/** `agent did restore` */
import { AgentCommand } from '../../cli/base-command.ts'
import { shownDid } from '../../cli/format/did.ts'

export default class DidRestore extends AgentCommand {
  static override summary = 'Find the published DIDs of the wallet’s seed on the ledger again'
  static override description =
    'Keys that do not come from the seed are missing then: what they signed stays valid, and new ones take their place. Of a NeoPRISM node only those DIDs are found that began with a master key alone.'
  static override examples = [
    '<%= config.bin %> did restore',
    '<%= config.bin %> did restore --api-key-file tenant.key',
  ]

  /** Some dozens of questions to a ledger that may be far away. */
  protected override readonly timeoutMs = 600_000

  async run() {
    await this.parse(DidRestore)
    const answer = await this.call('POST /did-registrar/restorations')
    this.printList(
      answer.restored,
      ({ did }) => did,
      [
        { head: 'did', of: ({ did }) => did },
        { head: 'state', of: shownDid },
        { head: 'missing keys', of: ({ missingKeys }) => missingKeys.join(', ') || 'none', cut: 'end' },
      ],
      'Nothing was found that the wallet does not have.',
    )
    const incomplete = answer.restored.find(
      ({ missingKeys, deactivated }) => missingKeys.length > 0 && !deactivated,
    )
    if (incomplete)
      this.suggest(
        `agent did update ${incomplete.did} --remove-key ${incomplete.missingKeys[0]} --add-key <id>:<purpose>   # a new key`,
      )
    else if (answer.restored.length > 0) this.suggest('agent did list')
    return answer
  }
}
