/** `agent connection list` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { findFitting } from '../../cli/client/pages.ts'
import type { Connection } from '../../cli/format/connection.ts'
import { connectionName } from '../../cli/format/names.ts'
import { shortState } from '../../cli/format/states.ts'
import { ago } from '../../cli/format/time.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'

export default class ConnectionList extends AgentCommand {
  static override summary = 'List the connections'
  static override examples = [
    '<%= config.bin %> connection list',
    '<%= config.bin %> connection list --state InvitationGenerated --quiet',
    '<%= config.bin %> connection list --label alice',
  ]
  static override flags = {
    ...recordFlags,
    label: Flags.string({ description: 'only those whose label has this text' }),
  }

  async run() {
    const { flags } = await this.parse(ConnectionList)
    const query = toRecordQuery('connection', flags)
    const page = await this.#ask(query, flags.label)
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
    this.sayMore(page, flags)
    return page
  }

  /** A page of the connections. The daemon has no filter for labels. */
  async #ask(
    query: ReturnType<typeof toRecordQuery>,
    label: string | undefined,
  ): Promise<{ contents: Connection[]; next?: string | undefined; hasMore?: boolean }> {
    if (label === undefined) return this.call('GET /connections', { query })
    const ask = (paging: object) => this.call('GET /connections', { query: { ...query, ...paging } })
    return findFitting(ask, (each) => each.label?.toLowerCase().includes(label.toLowerCase()) ?? false, query)
  }
}
