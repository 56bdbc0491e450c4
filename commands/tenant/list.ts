/** `agent tenant list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { ago } from '../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class TenantList extends AgentCommand {
  static override summary = 'List the tenants'
  static override description = 'Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(TenantList)
    const page = await this.call('GET /iam/entities', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        { head: 'wallet', of: ({ walletId }) => walletId, cut: 'end', optional: true },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no tenants. `agent tenant create <name>` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
