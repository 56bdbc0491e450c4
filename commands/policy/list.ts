/** `agent policy list` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { acceptedBy } from '../../cli/format/policy.ts'
import { ago } from '../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class PolicyList extends AgentCommand {
  static override summary = 'List the verification policies'
  static override examples = [
    '<%= config.bin %> policy list',
    '<%= config.bin %> policy list --name licences',
  ]
  static override flags = { name: Flags.string({ description: 'only those of this name' }), ...pagingFlags }

  async run() {
    const { flags } = await this.parse(PolicyList)
    const page = await this.call('GET /verification/policies', {
      query: { name: flags.name, ...toPaging(flags) },
    })
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        {
          head: 'accepts',
          of: ({ constraints }) => constraints.map(acceptedBy).join('; ') || 'any credential',
          cut: 'end',
        },
        { head: 'updated', of: ({ updatedAt }) => ago(updatedAt, Date.now()), optional: true },
      ],
      'There are no verification policies. `agent policy create` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
