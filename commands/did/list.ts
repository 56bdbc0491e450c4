/** `agent did list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { shownDid } from '../../cli/format/did.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class DidList extends AgentCommand {
  static override summary = 'List the DIDs of the wallet'
  static override examples = ['<%= config.bin %> did list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(DidList)
    const page = await this.call('GET /did-registrar/dids', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ did }) => did,
      [
        { head: 'did', of: ({ did }) => did },
        { head: 'state', of: shownDid },
      ],
      'The wallet has no DIDs. `agent did create` makes one, `agent did restore` finds those of its seed again.',
    )
    this.sayMore(page, flags)
    return page
  }
}
