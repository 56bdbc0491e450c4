/** `agent wallet list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { ago } from '../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class WalletList extends AgentCommand {
  static override summary = 'List the wallets'
  static override description = 'With the administrator’s key.'
  static override examples = ['<%= config.bin %> wallet list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(WalletList)
    const page = await this.call('GET /wallets', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no wallets. `agent tenant create <name>` makes one with a tenant.',
    )
    this.sayMore(page, flags)
    return page
  }
}
