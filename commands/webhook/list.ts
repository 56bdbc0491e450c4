/** `agent webhook list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { ago } from '../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class WebhookList extends AgentCommand {
  static override summary = 'List the webhooks of the wallet'
  static override examples = ['<%= config.bin %> webhook list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(WebhookList)
    const page = await this.call('GET /events/webhooks', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'url', of: ({ url }) => url, cut: 'middle' },
        {
          head: 'headers',
          of: ({ customHeaders }) => Object.keys(customHeaders).join(' '),
          cut: 'end',
          optional: true,
        },
        { head: 'signed', of: ({ signed }) => (signed ? 'yes' : 'no'), optional: true },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
      ],
      'There are no webhooks. `agent webhook add <url>` registers one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
