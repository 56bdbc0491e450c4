/** `agent message list` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { ago } from '../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class MessageList extends AgentCommand {
  static override summary = 'List the basic messages, sent and received'
  static override examples = [
    '<%= config.bin %> message list',
    '<%= config.bin %> message list --connection <id>',
  ]
  static override flags = {
    ...pagingFlags,
    connection: Flags.string({ description: 'only those over this connection' }),
  }

  async run() {
    const { flags } = await this.parse(MessageList)
    const page = await this.call('GET /messages', {
      query: { ...toPaging(flags), connectionId: flags.connection },
    })
    this.printList(
      page.contents,
      ({ messageId }) => messageId,
      [
        { head: 'id', of: ({ messageId }) => messageId, optional: true },
        {
          head: 'direction',
          of: ({ direction, failure }) => (failure === undefined ? direction : 'given up'),
        },
        { head: 'content', of: ({ content }) => content, cut: 'end' },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no messages. `agent message send <text> --connection <id>` sends one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
