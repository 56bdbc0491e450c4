/** `agent connection list` */
import { AgentCommand } from '../_base.ts'
import { ago } from '../_format/time.ts'
import { recordFlags, toRecordQuery } from '../_input/paging.ts'

export default class ConnectionList extends AgentCommand {
  static override summary = 'List the connections'
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
        { head: 'state', of: ({ state }) => state },
        { head: 'label', of: ({ label, goal }) => label ?? goal, cut: 'end' },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no connections. `agent connection invite` makes an invitation.',
    )
    return page
  }
}
