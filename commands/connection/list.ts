/** `agent connection list` */
import { AgentCommand } from '../_base.ts'
import { connectionName } from '../_format/names.ts'
import { shortState } from '../_format/states.ts'
import { ago } from '../_format/time.ts'
import { recordFlags, toRecordQuery } from '../_input/paging.ts'

export default class ConnectionList extends AgentCommand {
  static override summary = 'List the connections'
  static override examples = ['<%= config.bin %> connection list', '<%= config.bin %> connection list --quiet --limit 10']
  static override flags = recordFlags

  async run() {
    const { flags } = await this.parse(ConnectionList)
    const page = await this.call('GET /connections', { query: toRecordQuery(flags) })
    this.printList(
      page.contents,
      ({ connectionId }) => connectionId,
      [
        { head: 'id', of: ({ connectionId }) => connectionId },
        { head: 'role', of: ({ role }) => role, optional: true },
        { head: 'state', of: ({ state }) => shortState('connection', state) },
        { head: 'label', of: connectionName, cut: 'end' },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no connections. `agent connection invite` makes an invitation.',
    )
    return page
  }
}
